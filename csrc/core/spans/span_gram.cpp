#include "spans/span_gram.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "forest/row_block.hpp"
#include "kernels/kernels.hpp"
#include "spans/tensor_sums.hpp"
#include "support/parallel.hpp"
#include "support/progress.hpp"

namespace fasthdmr {

namespace {

constexpr index kMostBlocks = 16, kGramBlocks = 4, kAxisBytes = index(128) << 20;

// The nonzeros of one span at a block of rows.
struct Expanded {
    std::vector<double> values;
    std::vector<std::int32_t> starts;
    SparseRows view(const Span& span) const { return {values.data(), starts.data(), span.runs, span.run}; }
};

// Adds the inner products over a panel of rows of the columns of pairs of spans, from the nonzeros of each row.
void add_pairs(const Spans& spans, const SpanBlock& axes, const SpanPairs& pairs, const std::vector<index>& chosen,
               const double* weight, std::vector<std::vector<double>>& products, int n_threads) {
    if (chosen.empty()) return;
    std::vector<char> wanted(spans.all().size(), 0);
    for (const index p : chosen) wanted[pairs[p].first] = wanted[pairs[p].second] = 1;
    std::vector<Expanded> expanded(spans.all().size());
    for (index begin = 0; begin < axes.rows(); begin += kBlockRows) {
        const index rows = std::min(kBlockRows, axes.rows() - begin);
        parallel_for(index(wanted.size()), n_threads, [&](index s) {
            if (wanted[s]) axes.expand(spans.all()[s], begin, rows, expanded[s].values, expanded[s].starts);
        });
        parallel_for(index(chosen.size()), n_threads, [&](index q) {
            const auto& [first, second] = pairs[chosen[q]];
            const Span &a = spans.all()[first], &b = spans.all()[second];
            kernels().add_products(expanded[first].view(a), expanded[second].view(b), weight + begin, rows,
                                   products[chosen[q]].data(), b.columns);
        });
    }
}

// The factors of tensor products, and the pairs of spans whose Gram blocks the sums of these products determine.
struct Users {
    TensorFactors factors;
    std::vector<index> pairs;
};

// A minimal list of sums that determine the Gram blocks of all pairs. A term of three variables needs three sums of
// 7 * 16 products at each row, which dominates the cost of the projection. Pairs without such sums go to `others`.
std::vector<Users> users_of_sums(const Spans& spans, const SpanPairs& pairs, ProductBases& bases, index rows,
                                 std::vector<index>& others) {
    std::map<Subspace, std::map<TensorFactors, std::vector<index>>> needed;  // by the variables of the two spans
    for (index p = 0; p < index(pairs.size()); ++p) {
        const Span &a = spans.all()[pairs[p].first], &b = spans.all()[pairs[p].second];
        const TensorFactors factors = tensor_factors(spans, bases, a, b, rows);
        Subspace variables;
        for (const auto& [variable, number] : factors) variables.push_back(std::int32_t(variable));
        if (factors.empty()) others.push_back(p);
        else needed[variables][factors].push_back(p);
    }
    std::vector<Users> result;
    for (const auto& [variables, sums] : needed) {
        std::map<TensorFactors, std::vector<index>> kept;
        for (const auto& [factors, users] : sums) {
            const TensorFactors* holder = &factors;
            for (const auto& [candidate, unused] : sums)
                if (determines(bases, candidate, *holder)) holder = &candidate;
            std::vector<index>& all = kept[*holder];
            all.insert(all.end(), users.begin(), users.end());
        }
        for (auto& [factors, users] : kept) result.push_back({factors, std::move(users)});
    }
    return result;
}

// The axes whose splines are factors of the sums, or belong to spans of other pairs. Main effects often need none of
// their own: a product basis contains their splines.
std::vector<index> axes_of(const Spans& spans, const std::vector<Users>& users, const SpanPairs& pairs,
                           const std::vector<index>& others) {
    std::set<index> axes;
    for (const Users& each : users)
        for (const auto& [variable, number] : each.factors)
            if (number < 0) axes.insert(~number);
    for (const index p : others)
        for (const index s : {pairs[p].first, pairs[p].second})
            axes.insert(spans.all()[s].axes.begin(), spans.all()[s].axes.end());
    return {axes.begin(), axes.end()};
}

}  // namespace

index blocks_in_panel(const Spans& spans, index n_blocks, index more) {
    const index axis = kMaxRun * sizeof(double) + sizeof(std::int32_t);
    const index bytes = kBlockRows * (index(spans.axes().size()) * axis + more);
    return std::max<index>(1, std::min({kMostBlocks, n_blocks, kAxisBytes / std::max<index>(bytes, 1)}));
}

SpanGram::SpanGram(const Spans& spans, const Table& x, const double* weight, double total,
                   const std::vector<double>& means, SpanPairs pairs, int n_threads, const SpanGram* base)
    : spans_(spans), means_(means), base_(base), total_(total), pairs_(std::move(pairs)) {
    std::sort(pairs_.begin(), pairs_.end());
    if (pairs_.empty()) return;
    products_.resize(pairs_.size());
    ProductBases bases(spans, x.rows);
    std::vector<index> others;
    std::vector<TensorSums> sums;
    const std::vector<Users> users = users_of_sums(spans, pairs_, bases, x.rows, others);
    for (const index p : others)
        products_[p].assign(spans.all()[pairs_[p].first].columns * spans.all()[pairs_[p].second].columns, 0.0);
    for (const Users& each : users) sums.emplace_back(spans, bases, each.factors);
    const std::vector<index> needed = axes_of(spans, users, pairs_, others);
    const index n_blocks = (x.rows + kBlockRows - 1) / kBlockRows;
    const index panel = std::min(kGramBlocks, blocks_in_panel(spans, n_blocks, bases.row_bytes()));
    std::vector<double> panel_weight(panel * kBlockRows, 1.0);
    SpanBlock axes(spans, panel * kBlockRows);
    bases.reserve(panel * kBlockRows);
    for (index first = 0; first < x.rows; first += panel * kBlockRows) {
        const index rows = std::min(panel * kBlockRows, x.rows - first);
        if (weight) std::copy_n(weight + first, rows, panel_weight.begin());
        axes.load(x, {first, 1, rows, nullptr}, needed, n_threads);
        bases.load(x, {first, 1, rows, nullptr}, n_threads);
        parallel_for(index(sums.size()), n_threads, [&](index k) { sums[k].add(axes, panel_weight.data()); });
        add_pairs(spans, axes, pairs_, others, panel_weight.data(), products_, n_threads);
        rows_done() += rows;
    }
    parallel_for(index(sums.size()), n_threads, [&](index k) {
        for (const index p : users[k].pairs)
            products_[p] = sums[k].products(spans.all()[pairs_[p].first], spans.all()[pairs_[p].second]);
        sums[k].clear();
    });
}

SpanGram::SpanGram(const Spans& spans, double total, const std::vector<double>& means, SpanPairs pairs,
                   std::vector<std::vector<double>> products)
    : spans_(spans),
      means_(means),
      base_(nullptr),
      total_(total),
      pairs_(std::move(pairs)),
      products_(std::move(products)) {
    const auto columns_of = [&](index s) { return spans.all().at(s).columns; };
    bool fits = pairs_.size() == products_.size() && std::is_sorted(pairs_.begin(), pairs_.end());
    for (std::size_t p = 0; p < pairs_.size() && fits; ++p)
        fits = index(products_[p].size()) == columns_of(pairs_[p].first) * columns_of(pairs_[p].second);
    if (!fits) throw Error("every pair of spans needs the products of its columns");
}

SpanGram SpanGram::merged(const SpanGram& other, double total, const std::vector<double>& means) const {
    if (pairs_ != other.pairs_) throw Error("products of different spans cannot be merged");
    std::vector<std::vector<double>> sums = products_;
    for (std::size_t p = 0; p < sums.size(); ++p)
        for (std::size_t i = 0; i < sums[p].size(); ++i) sums[p][i] += other.products_[p][i];
    return SpanGram(spans_, total, means, pairs_, std::move(sums));
}

index SpanGram::columns(const Spanning& u) const {
    index n = 0;
    for (const index s : u) n += spans_.all()[s].columns;
    return n;
}

const std::vector<double>* SpanGram::block(index first, index second) const {
    const auto found = std::lower_bound(pairs_.begin(), pairs_.end(), std::make_pair(first, second));
    if (found != pairs_.end() && *found == std::make_pair(first, second)) return &products_[found - pairs_.begin()];
    return base_ ? base_->block(first, second) : nullptr;
}

const std::vector<double>& SpanGram::products(index s, index t) const {
    const std::vector<double>* g = block(s, t);
    if (!g) throw Error("the products of two spans are missing");
    return *g;
}

Buffer<double> SpanGram::covariance(const Spanning& a, const Spanning& b, int n_threads) const {
    const index leading = columns(b);
    Buffer<double> g(columns(a) * leading);
    std::vector<index> row{0};
    for (const index s : a) row.push_back(row.back() + spans_.all()[s].columns);
    parallel_for(index(a.size()), n_threads, [&](index k) {
        double* out = g.data() + row[k] * leading;
        for (const index t : b) {
            copy_block(a[k], t, out, leading);
            out += spans_.all()[t].columns;
        }
    });
    return g;
}

void SpanGram::copy_block(index s, index t, double* out, index leading) const {
    const Span &a = spans_.all()[s], &b = spans_.all()[t];
    const bool turned = s > t;
    const std::vector<double>& g = products(std::min(s, t), std::max(s, t));
    for (index i = 0; i < a.columns; ++i)
        for (index j = 0; j < b.columns; ++j)
            out[i * leading + j] =
                (turned ? g[j * a.columns + i] : g[i * b.columns + j]) / total_ - mean(a.first + i) * mean(b.first + j);
}

}  // namespace fasthdmr
