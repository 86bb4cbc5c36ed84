#include "spans/cell_sums.hpp"

#include <algorithm>
#include <array>

#include "kernels/kernels.hpp"
#include "spans/column_tiles.hpp"
#include "spans/sorted_rows.hpp"

namespace fasthdmr {

namespace {

// Calls `call` for each sum of a cell: the functions of the three variables, and its place.
template <class Function>
void for_products(const std::vector<ProductTile>& tiles, const Function& call) {
    index place = 0;
    for (const ProductTile& tile : tiles)
        for (const auto& [j, k] : tile.function)
            for (int i = 0; i < kCubics; ++i) {
                if (tile.variable == 0) call(i, j, k, place++);
                else call(j, i, k, place++);
            }
}

}  // namespace

std::vector<index> cell_bases(const Spans& spans, ProductBases& bases, const SpanPairs& pairs) {
    std::map<index, index> axis_of, single_of;  // by variable: in spans of several variables, and of one
    bool is_unique = true, is_shared = false;
    for (const auto& [s, t] : pairs) {
        const Span &a = spans.all()[s], &b = spans.all()[t];
        int shared = 0;
        const auto set = [&](index variable, const Span& span, index axis) {
            std::map<index, index>& axes = span.axes.size() == 1 ? single_of : axis_of;
            is_unique &= axis < 0 || axes.try_emplace(variable, axis).first->second == axis;
        };
        for_variables(spans, a, b, [&](const CommonVariable& v) {
            set(v.variable, a, v.axis_a);
            set(v.variable, b, v.axis_b);
            if (v.axis_a < 0 || v.axis_b < 0) return;
            ++shared;
            is_unique &= v.axis_a == v.axis_b;
        });
        is_unique &= shared <= 1;
        is_shared |= shared == 1;
    }
    if (!is_unique || !is_shared) return {};
    for (const auto& [variable, axis] : single_of) axis_of.try_emplace(variable, axis);
    std::vector<index> numbers;
    for (const auto& [variable, axis] : axis_of) {
        numbers.push_back(bases.add_with_inner(axis, single_of.try_emplace(variable, axis).first->second));
        if (numbers.back() < 0) return {};
    }
    return numbers;
}

CellCoordinates::CellCoordinates(const ProductBases& bases, std::vector<index> used, index capacity)
    : bases_(bases),
      used_(std::move(used)),
      place_(bases.size(), -1),
      capacity_(capacity),
      coordinates_(index(used_.size()) * capacity),
      cells_(index(used_.size()) * capacity) {
    for (std::size_t k = 0; k < used_.size(); ++k) place_[used_[k]] = index(k);
}

void CellCoordinates::load(const Table& x, const Rows& rows, int n_threads) {
    rows_ = rows.count;
    std::vector<ColumnUse> uses;
    for (const index number : used_) uses.emplace_back(bases_[number].axis().variable(), index(uses.size()));
    std::sort(uses.begin(), uses.end());
    for_tiles(x, rows, uses, n_threads, [&](index k, index first, const double* tile, index count) {
        const index begin = k * capacity_ + first;
        bases_[used_[k]].locate(tile, count, coordinates_.data() + begin, cells_.data() + begin);
    });
}

CellSums::CellSums(const Spans& spans, const ProductBases& bases, std::vector<index> numbers)
    : spans_(spans), bases_(bases), numbers_(std::move(numbers)), strides_(numbers_.size()) {
    for (std::size_t k = numbers_.size(); k-- > 0; n_cells_ *= basis(index(k)).cells()) strides_[k] = n_cells_;
    const auto others = [&](index k) { return Range{kCubics, basis(k).functions()}; };
    constexpr Range cubics{0, kCubics};
    add_tiles(0, cubics, {0, basis(2).functions()});
    add_tiles(0, others(1), cubics);
    add_tiles(1, others(0), cubics);
    size_ = index(tiles_.size()) * kTileProducts;
    sums_.assign(n_cells_ * size_, 0.0);
}

// Products of the cubics of a variable with functions of the others. One of the ranges is that of the four cubics, so
// that the products of two functions fill tiles.
void CellSums::add_tiles(int variable, Range second, Range third) {
    std::vector<std::array<int, 2>> others;
    for (int j = second.first; j < second.end; ++j)
        for (int k = third.first; k < third.end; ++k) others.push_back({j, k});
    for (std::size_t q = 0; q < others.size(); q += kTileOthers) {
        ProductTile tile{variable, {}};
        for (int k = 0; k < kTileOthers; ++k)
            for (int v = 0; v < kCellVariables - 1; ++v) tile.function[k][v] = others[q + k][v];
        tiles_.push_back(tile);
    }
}

// The number of each row's cell, or -1 if all products are 0: a value is missing, and there are no columns for it.
std::vector<std::int32_t> CellSums::cells_of(const CellCoordinates& panel) const {
    std::vector<std::int32_t> result(panel.rows());
    const std::int32_t* cells[kCellVariables];
    std::int32_t counts[kCellVariables], strides[kCellVariables];
    for (index k = 0; k < kCellVariables; ++k) {
        cells[k] = panel.cells(numbers_[k]);
        counts[k] = std::int32_t(basis(k).cells());
        strides[k] = std::int32_t(strides_[k]);
    }
    for (index r = 0; r < panel.rows(); ++r) {
        bool exists = true;
        std::int32_t cell = 0;
        for (index k = 0; k < kCellVariables; ++k) {
            exists &= cells[k][r] < counts[k];
            cell += cells[k][r] * strides[k];
        }
        result[r] = exists ? cell : -1;
    }
    return result;
}

void CellSums::add(const CellCoordinates& panel, const double* weight) {
    std::vector<std::uint16_t> order;
    std::vector<FunctionCell> cells;
    sort_by_cell(cells_of(panel), n_cells_, order, [&](index cell, std::int32_t first, std::int32_t last) {
        cells.push_back({first, last, cell * size_, {}});
        for (index k = 0; k < kCellVariables; ++k)
            cells.back().intervals[k] = basis(k).interval(cell / strides_[k] % basis(k).cells());
    });
    CellFunctions functions{
        {}, weight, order.data(), cells.data(), index(cells.size()), tiles_.data(), index(tiles_.size())};
    for (index k = 0; k < kCellVariables; ++k) functions.coordinates[k] = panel.coordinates(numbers_[k]);
    kernels().add_cell_functions(functions, sums_.data());
}

// The sums of the first functions of each variable, (cells and functions of each variable), row-major. `order` lists the
// variables from the first dimension to the last.
Buffer<double> CellSums::functions(const std::vector<int>& runs, const std::vector<index>& order) const {
    index size = 1, strides[kCellVariables] = {}, cell_strides[kCellVariables] = {};
    for (auto k = order.rbegin(); k != order.rend(); ++k) {
        strides[*k] = size;
        cell_strides[*k] = size * runs[*k];
        size *= basis(*k).cells() * runs[*k];
    }
    std::vector<std::pair<index, index>> chosen;  // place in the sums of a cell, and in the result
    for_products(tiles_, [&](int i, int j, int k, index place) {
        if (i < runs[0] && j < runs[1] && k < runs[2])
            chosen.emplace_back(place, i * strides[0] + j * strides[1] + k * strides[2]);
    });
    Buffer<double> result(size, 0.0);
    for (index cell = 0; cell < n_cells_; ++cell) {
        double* out = result.data();
        for (index k = 0; k < kCellVariables; ++k) out += cell / strides_[k] % basis(k).cells() * cell_strides[k];
        const double* sums = sums_.data() + cell * size_;
        for (const auto& [from, to] : chosen) out[to] = sums[from];
    }
    return result;
}

std::vector<double> CellSums::products(const Span& a, const Span& b) const {
    std::vector<SummedFactor> factors;
    std::vector<int> runs;
    std::vector<index> order;
    for_variables(spans_, a, b, [&](const CommonVariable& v) {
        const index k = index(runs.size());
        const bool is_shared = v.axis_a >= 0 && v.axis_b >= 0;
        runs.push_back(is_shared ? kPolynomials : basis(k).needed(spans_.axes()[std::max(v.axis_a, v.axis_b)]));
        order.insert(is_shared ? order.end() : order.begin(), k);
    });
    for (const index k : order)
        factors.push_back({basis(k).axis().variable(), &basis(k), runs[k], basis(k).cells() * runs[k]});
    return expand_products(spans_, a, b, factors, functions(runs, order));
}

}  // namespace fasthdmr
