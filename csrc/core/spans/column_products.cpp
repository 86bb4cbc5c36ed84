#include "spans/column_products.hpp"

#include <algorithm>

#include "kernels/kernels.hpp"

namespace fasthdmr {

ColumnProducts::ColumnProducts(const Spans& spans, const Span& span, const SpanBlock& axes, index functions)
    : span_(span),
      axes_(axes),
      run_(functions <= 4 ? 4 : 8),
      groups_((functions + run_ - 1) / run_),
      is_cubic_(index(span.axes.size()) < kMostFactors),
      sums_(groups_ * span.columns * run_, 0.0),
      begin_(kBlockRows) {
    for (const index a : span.axes) is_cubic_ &= spans.axes()[a].run() == kMaxRun;
    if (is_cubic_) {
        std::vector<TensorLayout::Factor> factors;
        for (const index a : span.axes) factors.push_back({spans.axes()[a].columns(), kMaxRun});
        factors.push_back({run_, run_});
        layout_ = TensorLayout(factors);
    }
    for (index r = 0; r < kBlockRows && !is_cubic_; ++r)
        for (int lane = 0; lane < run_; lane += 4) group_starts_.push_back(lane);
}

void ColumnProducts::load(index first, index rows) {
    first_ = first;
    rows_ = rows;
    if (!is_cubic_) return axes_.expand(span_, first, rows, values_, starts_);
    std::fill(begin_.begin(), begin_.end(), 0);
    for (std::size_t k = 0; k < span_.axes.size(); ++k) {
        const std::int32_t* starts = axes_.starts(span_.axes[k]) + first;
        for (index r = 0; r < rows; ++r) begin_[r] += starts[r] * layout_.strides[k];
    }
}

void ColumnProducts::add(index group, const double* functions, const double* weight) {
    double* sums = sums_.data() + group * span_.columns * run_;
    if (!is_cubic_)
        return kernels().add_products({values_.data(), starts_.data(), span_.runs, span_.run},
                                      {functions, group_starts_.data(), run_ / 4, 4}, weight, rows_, sums, run_);
    const std::size_t n = span_.axes.size();
    TensorRows rows{{}, {}, int(n) + 1, run_, layout_.offsets.data(), begin_.data()};
    for (std::size_t k = 0; k < n; ++k) {
        rows.values[k] = axes_.values(span_.axes[k]) + first_ * kMaxRun;
        rows.runs[k] = kMaxRun;
    }
    rows.values[n] = functions;
    rows.runs[n] = run_;
    kernels().add_tensors(rows, weight, rows_, sums);
}

}  // namespace fasthdmr
