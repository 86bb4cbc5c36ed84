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
      strides_(span.axes.size()),
      offsets_{0},
      begin_(kBlockRows) {
    for (const index a : span.axes) is_cubic_ &= spans.axes()[a].run() == kMaxRun;
    std::int32_t stride = run_;
    for (std::size_t k = span.axes.size(); k-- > 0;) {
        strides_[k] = stride;
        if (k + 1 < span.axes.size()) {
            std::vector<std::int32_t> next;
            for (int i = 0; i < kMaxRun; ++i)
                for (const std::int32_t offset : offsets_) next.push_back(i * stride + offset);
            offsets_ = std::move(next);
        }
        stride *= std::int32_t(spans.axes()[span.axes[k]].columns());
    }
    for (index r = 0; r < kBlockRows && !is_cubic_; ++r)
        for (int lane = 0; lane < run_; lane += 4) group_starts_.push_back(lane);
}

void ColumnProducts::load(index first, index rows) {
    first_ = first;
    rows_ = rows;
    if (!is_cubic_) return axes_.expand(span_, first, rows, values_, starts_);
    std::fill(begin_.begin(), begin_.end(), 0);
    for (std::size_t k = 0; k < strides_.size(); ++k) {
        const std::int32_t* starts = axes_.starts(span_.axes[k]) + first;
        for (index r = 0; r < rows; ++r) begin_[r] += starts[r] * strides_[k];
    }
}

void ColumnProducts::add(index group, const double* functions, const double* weight) {
    double* sums = sums_.data() + group * span_.columns * run_;
    if (!is_cubic_)
        return kernels().add_products({values_.data(), starts_.data(), span_.runs, span_.run},
                                      {functions, group_starts_.data(), run_ / 4, 4}, weight, rows_, sums, run_);
    const std::size_t n = span_.axes.size();
    TensorRows rows{{}, {}, int(n) + 1, strides_.back(), offsets_.data(), begin_.data()};
    for (std::size_t k = 0; k < n; ++k) {
        rows.values[k] = axes_.values(span_.axes[k]) + first_ * kMaxRun;
        rows.runs[k] = kMaxRun;
    }
    rows.values[n] = functions;
    rows.runs[n] = run_;
    kernels().add_tensors(rows, weight, rows_, sums);
}

}  // namespace fasthdmr
