// The Gram matrix of the columns of spans, in blocks: weighted inner products of the columns of two spans.
#pragma once

#include <vector>

#include "spans/bsplines.hpp"

namespace fasthdmr {

class SpanGram {
public:
    // `total` is the sum of the weights, `means` are the means of the columns. Blocks of pairs that are not in `pairs`
    // are taken from `base`. Objects passed by reference must outlive this one.
    SpanGram(const Spans& spans, const Table& x, const double* weight, double total, const std::vector<double>& means,
             SpanPairs pairs, int n_threads, const SpanGram* base = nullptr);

    // With given products, by pair. The pairs ascend.
    SpanGram(const Spans& spans, double total, const std::vector<double>& means, SpanPairs pairs,
             std::vector<std::vector<double>> products);
    // The products of both. Arguments are those of the rows of both.
    SpanGram merged(const SpanGram& other, double total, const std::vector<double>& means) const;

    const Spans& spans() const { return spans_; }
    const SpanPairs& pairs() const { return pairs_; }
    bool has(index a, index b) const { return block(std::min(a, b), std::max(a, b)) != nullptr; }
    index columns(const Spanning& u) const;
    double total() const { return total_; }
    // The weighted sums of products of the columns of two spans, s <= t: (columns of s, columns of t), row-major.
    const std::vector<double>& products(index s, index t) const;
    double mean(index column) const { return means_[column]; }
    // The covariances of the columns of spans a with the columns of spans b, (columns of a, columns of b), row-major.
    Buffer<double> covariance(const Spanning& a, const Spanning& b, int n_threads = 1) const;

private:
    const std::vector<double>* block(index first, index second) const;
    void copy_block(index s, index t, double* out, index leading) const;

    const Spans& spans_;
    const std::vector<double>& means_;
    const SpanGram* base_;
    double total_;
    SpanPairs pairs_;
    std::vector<std::vector<double>> products_;  // by pair, (columns of first, columns of second), row-major
};

}  // namespace fasthdmr
