#include "spans/sorted_gram.hpp"

#include <algorithm>

#include "kernels/kernels.hpp"

namespace fasthdmr {

namespace {

bool is_cubic(const Spans& spans, const Span& span) {
    return span.axes.size() <= kMostFactors && std::all_of(span.axes.begin(), span.axes.end(), [&](index axis) {
               return spans.axes()[axis].run() == kMaxRun;
           });
}

// The columns that a row of a cell touches, counted from the first.
std::vector<std::int32_t> touched_columns(const Spans& spans, const Span& span) {
    std::vector<std::int32_t> columns{0};
    for (const index axis : span.axes) {
        std::vector<std::int32_t> next;
        for (const std::int32_t column : columns)
            for (int j = 0; j < kMaxRun; ++j) next.push_back(column * std::int32_t(spans.axes()[axis].columns()) + j);
        columns = std::move(next);
    }
    return columns;
}

// Adds the first column that a row touches, times a factor, to its cell.
void add_first_column(const Spans& spans, const SpanBlock& block, const Span& span, std::int32_t factor,
                      std::vector<std::int32_t>& cell) {
    for (std::size_t k = span.axes.size(); k-- > 0; factor *= std::int32_t(spans.axes()[span.axes[k]].columns())) {
        const std::int32_t* starts = block.starts(span.axes[k]);
        for (index r = 0; r < block.rows(); ++r) cell[r] += starts[r] * factor;
    }
}

}  // namespace

bool can_sort(const Spans& spans, const Span& a, const Span& b, index rows) {
    return is_cubic(spans, a) && is_cubic(spans, b) && a.columns * b.columns <= std::max<index>(2 * rows, 4096);
}

void add_sorted_products(const Spans& spans, const SpanBlock& block, const Span& a, const Span& b, const double* weight,
                         double* g) {
    // A cell is known by the place in g where its products begin.
    const index rows = block.rows();
    std::vector<std::int32_t> cell(rows, 0), begin(a.columns * b.columns + 1, 0), order(rows);
    add_first_column(spans, block, a, std::int32_t(b.columns), cell);
    add_first_column(spans, block, b, 1, cell);
    for (index r = 0; r < rows; ++r) ++begin[cell[r] + 1];
    for (std::size_t k = 1; k < begin.size(); ++k) begin[k] += begin[k - 1];
    std::vector<std::int32_t> next(begin.begin(), begin.end() - 1);
    for (index r = 0; r < rows; ++r) order[next[cell[r]]++] = std::int32_t(r);

    std::vector<std::int32_t> row_offsets = touched_columns(spans, a), offsets = touched_columns(spans, b);
    for (std::int32_t& offset : row_offsets) offset *= std::int32_t(b.columns);
    CellProduct product{{}, {}, int(a.axes.size()), int(b.axes.size()), weight, row_offsets.data(), offsets.data()};
    for (std::size_t k = 0; k < a.axes.size(); ++k) product.a[k] = block.values(a.axes[k]);
    for (std::size_t k = 0; k < b.axes.size(); ++k) product.b[k] = block.values(b.axes[k]);
    for (std::size_t k = 0; k + 1 < begin.size(); ++k)
        if (begin[k + 1] > begin[k])
            kernels().add_cell(product, order.data() + begin[k], begin[k + 1] - begin[k], g + k);
}

}  // namespace fasthdmr
