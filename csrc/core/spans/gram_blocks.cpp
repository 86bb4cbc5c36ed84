#include "spans/gram_blocks.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "forest/row_block.hpp"
#include "kernels/kernels.hpp"
#include "spans/cell_sums.hpp"
#include "spans/nonzeros.hpp"
#include "support/parallel.hpp"
#include "support/progress.hpp"

namespace fasthdmr {

namespace {

constexpr index kMostBlocks = 16, kGramBlocks = 4, kAxisBytes = index(64) << 20, kCoordinateBytes = index(256) << 20;

// Adds the inner products over a panel of rows of the columns of pairs of spans, from the nonzeros of each row.
void add_pairs(const Spans& spans, const SpanBlock& axes, const SpanPairs& pairs, const std::vector<index>& chosen,
               const double* weight, std::vector<std::vector<double>>& products, int n_threads) {
    if (chosen.empty()) return;
    std::vector<char> wanted(spans.all().size(), 0);
    for (const index p : chosen) wanted[pairs[p].first] = wanted[pairs[p].second] = 1;
    std::vector<Nonzeros> nonzeros(spans.all().size());
    for (index begin = 0; begin < axes.rows(); begin += kBlockRows) {
        const index rows = std::min(kBlockRows, axes.rows() - begin);
        parallel_for(index(wanted.size()), n_threads, [&](index s) {
            if (wanted[s]) nonzeros[s].load(axes, spans.all()[s], begin, rows);
        });
        parallel_for(index(chosen.size()), n_threads, [&](index q) {
            const auto& [first, second] = pairs[chosen[q]];
            const Span &a = spans.all()[first], &b = spans.all()[second];
            kernels().add_products(nonzeros[first].view(a), nonzeros[second].view(b), weight + begin, rows,
                                   products[chosen[q]].data(), b.columns);
        });
    }
}

// Tensor products, and the pairs of spans whose Gram blocks the sums of these determine.
struct TensorUsers {
    TensorFactors factors;
    std::vector<index> pairs;
};

// The same for sums by cell.
struct CellUsers {
    std::vector<index> bases, pairs;
};

struct Users {
    std::vector<TensorUsers> tensors;
    std::vector<CellUsers> cells;
    std::vector<index> others;  // pairs without such sums
};

// The bases for sums by cell that determine the Gram blocks of all pairs of a group with the same variables. `kept` are
// the tensor products that do.
std::vector<index> bases_of_cells(const Spans& spans, const SpanPairs& pairs, ProductBases& bases,
                                  const std::map<TensorFactors, std::vector<index>>& kept) {
    if (kept.begin()->first.size() != kCellVariables) return {};
    SpanPairs group;
    for (const auto& [unused, users] : kept)
        for (const index p : users) group.push_back(pairs[p]);
    return cell_bases(spans, bases, group);
}

// A minimal list of sums that determine the Gram blocks of all pairs. Those for terms of three variables, about 300 products
// at each row, dominate the cost of the projection.
Users users_of_sums(const Spans& spans, const SpanPairs& pairs, ProductBases& bases, index rows) {
    Users result;
    std::map<Subspace, std::map<TensorFactors, std::vector<index>>> needed;  // by the variables of the two spans
    for (index p = 0; p < index(pairs.size()); ++p) {
        const Span &a = spans.all()[pairs[p].first], &b = spans.all()[pairs[p].second];
        const TensorFactors factors = tensor_factors(spans, bases, a, b, rows);
        Subspace variables;
        for (const auto& [variable, number] : factors) variables.push_back(std::int32_t(variable));
        if (factors.empty()) result.others.push_back(p);
        else needed[variables][factors].push_back(p);
    }
    for (const auto& [variables, sums] : needed) {
        std::map<TensorFactors, std::vector<index>> kept;
        for (const auto& [factors, users] : sums) {
            const TensorFactors* holder = &factors;
            for (const auto& [candidate, unused] : sums)
                if (determines(bases, candidate, *holder)) holder = &candidate;
            std::vector<index>& all = kept[*holder];
            all.insert(all.end(), users.begin(), users.end());
        }
        std::vector<index> of_cells = bases_of_cells(spans, pairs, bases, kept), all;
        for (auto& [factors, users] : kept) {
            all.insert(all.end(), users.begin(), users.end());
            if (of_cells.empty()) result.tensors.push_back({factors, std::move(users)});
        }
        if (!of_cells.empty()) result.cells.push_back({std::move(of_cells), std::move(all)});
    }
    return result;
}

// The axes whose splines are factors of the sums, or belong to spans of other pairs. Main effects often need none of
// their own: a product basis contains their splines.
std::vector<index> axes_of(const Spans& spans, const Users& users, const SpanPairs& pairs) {
    std::set<index> axes;
    for (const TensorUsers& each : users.tensors)
        for (const auto& [variable, number] : each.factors)
            if (number < 0) axes.insert(~number);
    for (const index p : users.others)
        for (const index s : {pairs[p].first, pairs[p].second})
            axes.insert(spans.all()[s].axes.begin(), spans.all()[s].axes.end());
    return {axes.begin(), axes.end()};
}

// The product bases of the tensor products.
std::vector<index> bases_of(const Users& users) {
    std::set<index> bases;
    for (const TensorUsers& each : users.tensors)
        for (const auto& [variable, number] : each.factors)
            if (number >= 0) bases.insert(number);
    return {bases.begin(), bases.end()};
}

// The Gram blocks of pairs of spans, from sums over rows.
class Blocks {
public:
    Blocks(const Spans& spans, const Table& x, const double* weight, const SpanPairs& pairs,
           std::vector<std::vector<double>>& products, int n_threads)
        : spans_(spans),
          x_(x),
          weight_(weight),
          pairs_(pairs),
          products_(products),
          n_threads_(n_threads),
          bases_(spans, x.rows),
          users_(users_of_sums(spans, pairs, bases_, x.rows)),
          n_blocks_((x.rows + kBlockRows - 1) / kBlockRows) {}

    void sum() {
        sum_tensors();
        sum_cells();
    }

private:
    void sum_tensors();
    void sum_cells();
    // The weights of rows from `first` on. Without weights, those of all rows are 1.
    const double* weights(index first, index rows);
    template <class Sums>
    void set_products(const Sums& sums, const std::vector<index>& users) {
        for (const index p : users)
            products_[p] = sums.products(spans_.all()[pairs_[p].first], spans_.all()[pairs_[p].second]);
    }

    const Spans& spans_;
    const Table& x_;
    const double* weight_;
    const SpanPairs& pairs_;
    std::vector<std::vector<double>>& products_;
    int n_threads_;
    ProductBases bases_;
    Users users_;
    index n_blocks_;
    std::vector<double> ones_;
};

const double* Blocks::weights(index first, index rows) {
    if (weight_) return weight_ + first;
    ones_.resize(std::max<std::size_t>(ones_.size(), rows), 1.0);
    return ones_.data();
}

void Blocks::sum_tensors() {
    for (const index p : users_.others)
        products_[p].assign(spans_.all()[pairs_[p].first].columns * spans_.all()[pairs_[p].second].columns, 0.0);
    std::vector<TensorSums> sums;
    for (const TensorUsers& each : users_.tensors) sums.emplace_back(spans_, bases_, each.factors);
    const std::vector<index> axes = axes_of(spans_, users_, pairs_), used = bases_of(users_);
    if (axes.empty() && used.empty()) return;
    const index bytes = index(used.size()) * ProductBases::kRowBytes;
    const index panel = std::min(kGramBlocks, blocks_in_panel(index(axes.size()), n_blocks_, bytes));
    SpanBlock block(spans_, panel * kBlockRows);
    bases_.reserve(panel * kBlockRows, used);
    for (index first = 0; first < x_.rows; first += panel * kBlockRows) {
        const index rows = std::min(panel * kBlockRows, x_.rows - first);
        const double* weight = weights(first, rows);
        block.load(x_, {first, 1, rows, nullptr}, axes, n_threads_);
        bases_.load(x_, {first, 1, rows, nullptr}, n_threads_);
        parallel_for(index(sums.size()), n_threads_, [&](index k) { sums[k].add(block, weight); });
        add_pairs(spans_, block, pairs_, users_.others, weight, products_, n_threads_);
        if (users_.cells.empty()) rows_done() += rows;  // they take longer
    }
    parallel_for(index(sums.size()), n_threads_, [&](index k) {
        set_products(sums[k], users_.tensors[k].pairs);
        sums[k].clear();
    });
}

// If the coordinates of all rows fit into memory, the sums of a subspace are computed and used before those of the next.
void Blocks::sum_cells() {
    std::set<index> used;
    for (const CellUsers& each : users_.cells) used.insert(each.bases.begin(), each.bases.end());
    if (used.empty()) return;
    const index row_bytes = index(used.size()) * CellCoordinates::kRowBytes;
    const index panel = rows_within(kCoordinateBytes, row_bytes, kBlockRows, CellCoordinates::kMostRows);
    CellCoordinates coordinates(bases_, {used.begin(), used.end()}, std::min(panel, x_.rows));
    std::vector<std::optional<CellSums>> sums(users_.cells.size());
    const index n = index(sums.size());
    for (index first = 0; first == 0 || first < x_.rows; first += panel) {
        const index rows = std::min(panel, x_.rows - first);
        const double* weight = weights(first, rows);
        coordinates.load(x_, {first, 1, rows, nullptr}, n_threads_);
        parallel_for(n, n_threads_, [&](index k) {
            if (first == 0) sums[k].emplace(spans_, bases_, users_.cells[k].bases);
            sums[k]->add(coordinates, weight);
            rows_done() += rows * (k + 1) / n - rows * k / n;
            if (first + rows < x_.rows) return;
            set_products(*sums[k], users_.cells[k].pairs);
            sums[k].reset();
        });
    }
}

}  // namespace

index blocks_in_panel(index n_axes, index n_blocks, index more) {
    const index axis = kMaxRun * sizeof(double) + sizeof(std::int32_t);
    const index bytes = kBlockRows * (n_axes * axis + more);
    return std::max<index>(1, std::min({kMostBlocks, n_blocks, kAxisBytes / std::max<index>(bytes, 1)}));
}

std::vector<std::vector<double>> gram_blocks(const Spans& spans, const Table& x, const double* weight,
                                             const SpanPairs& pairs, int n_threads) {
    std::vector<std::vector<double>> products(pairs.size());
    if (!pairs.empty()) Blocks(spans, x, weight, pairs, products, n_threads).sum();
    return products;
}

}  // namespace fasthdmr
