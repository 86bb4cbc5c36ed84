// The Gram matrix of spans in blocks: weighted sums over rows of the products of pairs of spans.
#pragma once

#include <utility>
#include <vector>

#include "spans/bsplines.hpp"

namespace fasthdmr {

using SpanPairs = std::vector<std::pair<index, index>>;  // first <= second

// Number of blocks of rows in a batch, such that the values of their axes, and more bytes per row, fit a fixed memory.
index blocks_in_wave(const Spans& spans, index n_blocks, index more = 0);

class SpanGram {
public:
    // The weights sum to `total`, the columns have these means. Pairs that are not given are looked up in `base`. What
    // is passed by reference has to live as long.
    SpanGram(const Spans& spans, const Table& x, const double* weight, double total, const std::vector<double>& means,
             SpanPairs pairs, int n_threads, const SpanGram* base = nullptr);

    const Spans& spans() const { return spans_; }
    bool has(index a, index b) const { return block(std::min(a, b), std::max(a, b)) != nullptr; }
    index columns(const Spanning& u) const;
    double mean(index column) const { return means_[column]; }
    // Covariances of the columns of some spans with those of others, (columns of a, columns of b), row-major.
    Buffer<double> covariance(const Spanning& a, const Spanning& b, int n_threads = 1) const;

private:
    const std::vector<double>* block(index first, index second) const;
    void copy_block(index s, index t, double* out, index leading) const;

    const Spans& spans_;
    const std::vector<double>& means_;
    const SpanGram* base_;
    double total_;
    SpanPairs pairs_;
    std::vector<std::vector<double>> products_;  // one a pair: (columns of first, columns of second), row-major
};

}  // namespace fasthdmr
