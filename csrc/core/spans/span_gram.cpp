#include "spans/span_gram.hpp"

#include <algorithm>

#include "spans/gram_blocks.hpp"
#include "support/parallel.hpp"

namespace fasthdmr {

SpanGram::SpanGram(const Spans& spans, const Table& x, const double* weight, double total,
                   const std::vector<double>& means, SpanPairs pairs, int n_threads, const SpanGram* base)
    : spans_(spans), means_(means), base_(base), total_(total), pairs_(std::move(pairs)) {
    std::sort(pairs_.begin(), pairs_.end());
    products_ = gram_blocks(spans, x, weight, pairs_, n_threads);
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
