#include "spans/column_products.hpp"

#include <algorithm>

#include "kernels/kernels.hpp"

namespace fasthdmr {

namespace {

constexpr index kChunk = 256;  // rows whose products of splines are stored at a time: they stay in the cache

}  // namespace

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

// The products of the last one or two axes are stored. Those of the axes before are applied one after the other.
void ColumnProducts::add_cubic(index first, index rows, const std::vector<const double*>& functions,
                               const double* weight) {
    sort(first, rows);
    const std::size_t n_heads = std::max<std::size_t>(span_.axes.size(), 2) - 2;
    const bool is_pair = span_.axes.size() > 1;
    const auto values = [&](std::size_t k) { return axes_.values(span_.axes[k]) + first * kMaxRun; };
    const double *last = values(span_.axes.size() - 1), *before = is_pair ? values(n_heads) : nullptr;
    const int width = is_pair ? kMaxRun * kMaxRun : kMaxRun;
    std::int32_t offsets[kMaxRun] = {};
    for (int i = 0; i < kMaxRun && is_pair; ++i) offsets[i] = std::int32_t(i * strides_[n_heads]);
    left_.resize(kChunk * width);
    for (index head = 0, n = index(1) << 2 * n_heads; head < n; ++head) {
        index place = 0;
        for (std::size_t k = 0; k < n_heads; ++k) place += (head >> 2 * k & 3) * strides_[k];
        double scale[kChunk];
        const RowCell* cell = cells_.data();
        for (index begin = 0; begin < rows; begin += kChunk) {
            const index count = std::min(kChunk, rows - begin);
            const std::uint16_t* order = order_.data() + begin;
            for (index e = 0; e < count; ++e) scale[e] = weight[order[e]];
            for (std::size_t k = 0; k < n_heads; ++k)
                for (index e = 0; e < count; ++e) scale[e] *= values(k)[order[e] * kMaxRun + (head >> 2 * k & 3)];
            kernels().multiply_outer(before, last, scale, order, count, left_.data());
            const RowCell* next = cell;
            for (index done = 0; done < count; ++next) done = next->last;
            kernels().add_cell_products({left_.data(), width, offsets, functions.data(), int(functions.size()),
                                         span_.columns, order, cell, next - cell},
                                        sums_.data() + place);
            cell = next;
        }
    }
}

// Sorts the rows by their first column, and divides them into cells. Entries of a cell are counted from the start of
// its chunk; a cell ends where a chunk ends.
void ColumnProducts::sort(index first, index rows) {
    begin_.assign(rows, 0);
    for (std::size_t k = 0; k < span_.axes.size(); ++k) {
        const std::int32_t* starts = axes_.starts(span_.axes[k]) + first;
        for (index r = 0; r < rows; ++r) begin_[r] += std::int32_t(starts[r] * strides_[k]);
    }
    order_.resize(rows);
    cells_.clear();
    std::vector<std::uint16_t> next(span_.columns, 0);
    for (const std::int32_t column : begin_) ++next[column];
    index done = 0;
    for (index column = 0; column < span_.columns; ++column) {
        const index end = done + next[column];
        next[column] = std::uint16_t(done);
        for (index stop; done < end; done = stop) {
            stop = std::min(end, (done / kChunk + 1) * kChunk);
            const index chunk = done / kChunk * kChunk;
            cells_.push_back({std::int32_t(done - chunk), std::int32_t(stop - chunk), column});
        }
    }
    for (index r = 0; r < rows; ++r) order_[next[begin_[r]]++] = std::uint16_t(r);
}

void ColumnProducts::add_expanded(index first, index rows, const std::vector<const double*>& functions,
                                  const double* weight) {
    axes_.expand(span_, first, rows, values_, starts_);
    std::vector<double> table(rows * kRun);
    double* sums = sums_.data();
    for (std::size_t k = 0; k < functions.size(); k += kRun, sums += span_.columns * kRun) {
        for (std::size_t lane = 0; lane < kRun; ++lane)
            for (index r = 0; r < rows; ++r)
                table[r * kRun + index(lane)] = k + lane < functions.size() ? functions[k + lane][r] : 0.0;
        kernels().add_products({values_.data(), starts_.data(), span_.runs, span_.run},
                               {table.data(), group_starts_.data(), kRun / 4, 4}, weight, rows, sums, kRun);
    }
}

}  // namespace fasthdmr
