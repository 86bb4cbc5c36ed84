#include "spans/column_products.hpp"

#include <algorithm>

#include "kernels/kernels.hpp"
#include "spans/sorted_rows.hpp"

namespace fasthdmr {

ColumnProducts::ColumnProducts(const Spans& spans, const Span& span, const SpanBlock& axes, index functions)
    : span_(span),
      axes_(axes),
      is_cubic_(
          std::all_of(span.axes.begin(), span.axes.end(), [&](index a) { return spans.axes()[a].run() == kMaxRun; })),
      sums_((is_cubic_ ? functions : (functions + kRun - 1) / kRun * kRun) * span.columns, 0.0),
      strides_(span.axes.size(), 1) {
    for (std::size_t k = span.axes.size() - 1; k > 0; --k)
        strides_[k - 1] = strides_[k] * spans.axes()[span.axes[k]].columns();
    for (index r = 0; r < kBlockRows && !is_cubic_; ++r)
        for (int lane = 0; lane < kRun; lane += 4) group_starts_.push_back(lane);
}

void ColumnProducts::add(index first, index rows, const std::vector<const double*>& functions, const double* weight) {
    is_cubic_ ? add_cubic(first, rows, functions, weight) : add_expanded(first, rows, functions, weight);
}

// The splines of the axes before the last two are factors, one combination after the other.
void ColumnProducts::add_cubic(index first, index rows, const std::vector<const double*>& functions,
                               const double* weight) {
    sort(first, rows);
    const std::size_t n_heads = std::max<std::size_t>(span_.axes.size(), 2) - 2;
    const bool is_pair = span_.axes.size() > 1;
    const auto values = [&](std::size_t k) { return axes_.values(span_.axes[k]) + first * kMaxRun; };
    std::int32_t offsets[kMaxRun] = {};
    for (int i = 0; i < kMaxRun && is_pair; ++i) offsets[i] = std::int32_t(i * strides_[n_heads]);
    std::vector<double> factor(rows);
    for (index head = 0, n = index(1) << 2 * n_heads; head < n; ++head) {
        std::copy_n(weight, rows, factor.begin());
        index place = 0;
        for (std::size_t k = 0; k < n_heads; ++k) {
            const index i = head >> 2 * k & 3;
            place += i * strides_[k];
            for (index r = 0; r < rows; ++r) factor[r] *= values(k)[r * kMaxRun + i];
        }
        kernels().add_cell_products({is_pair ? values(n_heads) : nullptr, values(span_.axes.size() - 1), factor.data(),
                                     offsets, functions.data(), int(functions.size()), span_.columns, order_.data(),
                                     cells_.data(), index(cells_.size())},
                                    sums_.data() + place);
    }
}

// Sorts the rows by their first column, and divides them into cells.
void ColumnProducts::sort(index first, index rows) {
    begin_.assign(rows, 0);
    for (std::size_t k = 0; k < span_.axes.size(); ++k) {
        const std::int32_t* starts = axes_.starts(span_.axes[k]) + first;
        for (index r = 0; r < rows; ++r) begin_[r] += std::int32_t(starts[r] * strides_[k]);
    }
    cells_.clear();
    sort_by_cell(begin_, span_.columns, order_,
                 [&](index column, std::int32_t from, std::int32_t to) { cells_.push_back({from, to, column}); });
}

void ColumnProducts::add_expanded(index first, index rows, const std::vector<const double*>& functions,
                                  const double* weight) {
    nonzeros_.load(axes_, span_, first, rows);
    std::vector<double> table(rows * kRun);
    double* sums = sums_.data();
    for (std::size_t k = 0; k < functions.size(); k += kRun, sums += span_.columns * kRun) {
        for (std::size_t lane = 0; lane < kRun; ++lane)
            for (index r = 0; r < rows; ++r)
                table[r * kRun + index(lane)] = k + lane < functions.size() ? functions[k + lane][r] : 0.0;
        kernels().add_products(nonzeros_.view(span_), {table.data(), group_starts_.data(), kRun / 4, 4}, weight, rows,
                               sums, kRun);
    }
}

}  // namespace fasthdmr
