// Weighted sums over rows of the columns of one span times functions of the rows, such as terms.
#pragma once

#include <vector>

#include "spans/bsplines.hpp"

namespace fasthdmr {

class ColumnProducts {
public:
    // The axes are loaded by then, and have to live as long.
    ColumnProducts(const Spans& spans, const Span& span, const SpanBlock& axes, index functions);

    // Functions are added in groups, of four or of eight: as many as a register holds.
    int run() const { return run_; }
    index groups() const { return groups_; }
    // Moves to some of the rows that the axes are loaded at, at most kBlockRows.
    void load(index first, index rows);
    // Adds the products with a group of functions, (rows, run()).
    void add(index group, const double* functions, const double* weight);
    double sum(index column, index function) const {
        return sums_[(function / run_ * span_.columns + column) * run_ + function % run_];
    }

private:
    const Span& span_;
    const SpanBlock& axes_;
    int run_;
    index groups_;
    bool is_cubic_;  // tensor products of the axes are formed in registers then; else the columns are expanded
    index first_ = 0, rows_ = 0;
    Buffer<double> sums_;  // (groups, columns, run)
    std::vector<std::int32_t> strides_, offsets_, begin_;
    std::vector<double> values_;
    std::vector<std::int32_t> starts_, group_starts_;
};

}  // namespace fasthdmr
