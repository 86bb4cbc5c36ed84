#include "product_measure/box_tables.hpp"

#include <algorithm>

#include "kernels/kernels.hpp"
#include "support/interruption.hpp"

namespace fasthdmr {

namespace {

constexpr index kCells = 1 << 13;  // 64 kB, for the second-level cache; more only if a single box needs them
constexpr index kBoxesPerPoll = 256;

}  // namespace

BoxTable::Axes::Axes(const Constraint* box, index order, const Marginals& marginals) : sizes_(order, 2) {
    for (index s = 0; s < order; ++s) {
        std::vector<char> is_edge(marginals.thresholds().count(box[s].variable) + 2, 0);
        is_edge.front() = is_edge.back() = 1;
        sizes_[s] += new_edges(is_edge, box[s]);
        is_edge[box[s].low] = is_edge[box[s].high] = 1;
        is_edge_.push_back(std::move(is_edge));
    }
}

index BoxTable::Axes::new_edges(const std::vector<char>& is_edge, const Constraint& constraint) {
    return !is_edge[constraint.low] + (constraint.high != constraint.low && !is_edge[constraint.high]);
}

bool BoxTable::Axes::add(const Constraint* box) {
    index cells = 1;
    for (index s = 0; s < order(); ++s) cells *= sizes_[s] + new_edges(is_edge_[s], box[s]);
    if (cells > kCells) return false;
    for (index s = 0; s < order(); ++s) {
        sizes_[s] += new_edges(is_edge_[s], box[s]);
        is_edge_[s][box[s].low] = is_edge_[s][box[s].high] = 1;
    }
    return true;
}

double BoxTable::Axes::bytes() const {
    double cells = 1.0, ranks = 0.0;
    for (index s = 0; s < order(); ++s) {
        cells *= double(sizes_[s]);
        ranks += double(is_edge_[s].size());
    }
    return cells * sizeof(double) + 2 * ranks * sizeof(std::int32_t);
}

BoxTable::BoxTable(const BoxList& boxes, index begin, index end, const Axes& axes, const Marginals& marginals) {
    index cells = 1;
    strides_.resize(axes.order());
    for (index s = axes.order() - 1; s >= 0; --s) {
        strides_[s] = cells;
        cells *= axes.sizes_[s];
    }
    for (index s = 0; s < axes.order(); ++s) {
        variables_.push_back(boxes.box(begin)[s].variable);
        std::int32_t position = -1;
        const std::int32_t unit = std::int32_t(s + 1 < axes.order() ? strides_[s] / axes.sizes_.back() : 1);
        std::vector<std::int32_t> positions, offsets;
        for (const char is_edge : axes.is_edge_[s]) {
            positions.push_back(position += is_edge);
            offsets.push_back(position * unit);
        }
        positions_.push_back(std::move(positions));
        offsets_.push_back(std::move(offsets));
    }
    cells_.assign(cells, 0.0);
    for (index b = begin; b < end; ++b) add_corners(boxes.box(b), boxes.values[b]);
    accumulate();
    centre(marginals);
}

// Adds the mixed differences of a box at its corners, from which `accumulate` computes its values.
void BoxTable::add_corners(const Constraint* box, double value) {
    struct Corner {
        index cell;
        double change;
    };
    std::vector<Corner> corners{{0, value}};
    for (std::size_t s = 0; s < variables_.size(); ++s) {
        const index missing = positions_[s].back();
        std::vector<Corner> of_axis;
        const auto add = [&](index position, double sign) {
            if (position <= missing) of_axis.push_back({position * strides_[s], sign});
        };
        add(positions_[s][box[s].low], 1.0);
        add(positions_[s][box[s].high], -1.0);
        if (box[s].missing) add(missing, 1.0);
        std::vector<Corner> products;
        for (const Corner& corner : corners)
            for (const Corner& other : of_axis)
                products.push_back({corner.cell + other.cell, corner.change * other.change});
        corners = std::move(products);
    }
    for (const Corner& corner : corners) cells_[corner.cell] += corner.change;
}

// Prefix sums along all variables: from differences at the corners of boxes to values.
void BoxTable::accumulate() {
    for (std::size_t s = 0; s < variables_.size(); ++s) {
        const index stride = strides_[s], length = stride * (positions_[s].back() + 1);
        for (index first = 0; first < index(cells_.size()); first += length)
            for (index k = first + stride; k < first + length; ++k) cells_[k] += cells_[k - stride];
    }
}

// Subtracts the means over each variable.
void BoxTable::centre(const Marginals& marginals) {
    for (std::size_t s = 0; s < variables_.size(); ++s) {
        const std::vector<std::int32_t>& positions = positions_[s];
        std::vector<double> probability(positions.back() + 1, 0.0);
        for (std::size_t rank = 0; rank < positions.size(); ++rank)
            probability[positions[rank]] +=
                marginals.probability(variables_[s], std::int32_t(rank), std::int32_t(rank + 1));
        const index stride = strides_[s], size = index(probability.size());
        std::vector<double> mean(stride);
        for (index first = 0; first < index(cells_.size()); first += stride * size) {
            std::fill(mean.begin(), mean.end(), 0.0);
            double* cell = cells_.data() + first;
            for (index i = 0; i < size; ++i)
                for (index k = 0; k < stride; ++k) mean[k] += probability[i] * cell[i * stride + k];
            for (index i = 0; i < size; ++i)
                for (index k = 0; k < stride; ++k) cell[i * stride + k] -= mean[k];
        }
    }
}

void BoxTable::add(const RankedBlock& block, double* out) const {
    const index rows = block.rows();
    std::int32_t major[kBlockRows], own[kBlockRows];
    kernels().take(offsets_[0].data(), block.ranks(variables_[0]), rows, major);
    for (std::size_t s = 1; s < variables_.size(); ++s) {
        kernels().take(offsets_[s].data(), block.ranks(variables_[s]), rows, own);
        if (s + 1 < variables_.size())
            for (index r = 0; r < rows; ++r) major[r] += own[r];
    }
    kernels().add_cells(cells_.data(), positions_.back().back() + 1, major, own, rows, out);
}

std::vector<BoxTable> tables_of(const BoxList& boxes, const Marginals& marginals) {
    if (boxes.order > kMostTableVariables) return {};
    std::vector<BoxTable> tables;
    double bytes = 0.0;
    for (index begin = 0, end = 0; begin < boxes.count(); begin = end) {
        BoxTable::Axes axes(boxes.box(end++), boxes.order, marginals);
        while (end < boxes.count() && axes.add(boxes.box(end))) {
            if (end % kBoxesPerPoll == 0) poll();
            ++end;
        }
        bytes += axes.bytes();
        if (bytes > kTableBytesPerBox * double(boxes.count())) return {};
        tables.emplace_back(boxes, begin, end, axes, marginals);
    }
    return tables;
}

}  // namespace fasthdmr
