// Weighted inner products of the columns of one span with functions given by their values at the rows, such as terms.
#pragma once

#include <vector>

#include "kernels/cell_records.hpp"
#include "spans/nonzeros.hpp"

namespace fasthdmr {

class ColumnProducts {
public:
    // `axes` must be loaded before `add` is called, and outlive this object.
    ColumnProducts(const Spans& spans, const Span& span, const SpanBlock& axes, index functions);

    // Adds the inner products with the functions over the loaded rows first, ..., first + rows - 1, at most kBlockRows.
    // The functions and the weight are given by their values at these rows.
    void add(index first, index rows, const std::vector<const double*>& functions, const double* weight);
    double sum(index column, index function) const {
        return is_cubic_ ? sums_[function * span_.columns + column]
                         : sums_[(function / kRun * span_.columns + column) * kRun + function % kRun];
    }

private:
    static constexpr index kRun = 8;

    void add_cubic(index first, index rows, const std::vector<const double*>& functions, const double* weight);
    void sort(index first, index rows);
    void add_expanded(index first, index rows, const std::vector<const double*>& functions, const double* weight);

    const Span& span_;
    const SpanBlock& axes_;
    bool is_cubic_;        // otherwise the nonzeros are expanded, and functions are processed in groups of kRun
    Buffer<double> sums_;  // (functions, columns), or (groups, columns, kRun)
    // Cubic splines: the rows sorted by cell, that is by the intervals of all axes.
    std::vector<index> strides_;       // of the columns of each axis
    std::vector<std::int32_t> begin_;  // by row, the first column that is not 0
    std::vector<std::uint16_t> order_;
    std::vector<RowCell> cells_;
    // Others
    Nonzeros nonzeros_;
    std::vector<std::int32_t> group_starts_;
};

}  // namespace fasthdmr
