// Weighted inner products of the columns of one span with functions given by their values at the rows, such as terms.
#pragma once

#include <vector>

#include "spans/bsplines.hpp"
#include "spans/tensor_layout.hpp"

namespace fasthdmr {

class ColumnProducts {
public:
    // `axes` must be loaded before `load` is called, and outlive this object.
    ColumnProducts(const Spans& spans, const Span& span, const SpanBlock& axes, index functions);

    // Functions are processed in groups of four or eight, the number of doubles in a vector register.
    int run() const { return run_; }
    index groups() const { return groups_; }
    // Selects the rows for the next calls of `add` among the loaded rows of the axes; at most kBlockRows.
    void load(index first, index rows);
    // Adds the inner products over these rows with a group of functions, given by values (rows, run()).
    void add(index group, const double* functions, const double* weight);
    double sum(index column, index function) const {
        return sums_[(function / run_ * span_.columns + column) * run_ + function % run_];
    }

private:
    const Span& span_;
    const SpanBlock& axes_;
    int run_;
    index groups_;
    bool is_cubic_;  // then tensor products are formed in registers; otherwise the nonzeros are expanded first
    index first_ = 0, rows_ = 0;
    Buffer<double> sums_;  // (groups, columns, run)
    TensorLayout layout_;  // of the sums of one group
    std::vector<std::int32_t> begin_;
    std::vector<double> values_;
    std::vector<std::int32_t> starts_, group_starts_;
};

}  // namespace fasthdmr
