#include "spans/column_products.hpp"

#include "dense_spans.hpp"
#include "kernels/kernels.hpp"

namespace fasthdmr {

extern const Kernels kernels_baseline;

TEST(column_products_are_sums_over_rows) {
    constexpr index rows = 700, later = 300;
    const Matrix x = correlated(rows, 84);
    const std::vector<double> weight = random_weights(rows, 86);
    for (const Spans& spans : {mixed_spans(), cubic_spans()})
        for (const index functions : {1, 4, 5, 9}) {
            const Matrix columns = dense(spans, x), values = random_matrix(rows, functions, 85);
            SpanBlock axes(spans, rows);
            axes.load(x.table(), {0, 1, rows, nullptr});
            for (const Span& span : spans.all()) {
                ColumnProducts actual(spans, span, axes, functions);
                for (const index begin : {index(0), later}) {
                    const index count = begin ? rows - later : later;
                    std::vector<std::vector<double>> given(functions);
                    std::vector<const double*> pointers;
                    for (index k = 0; k < functions; ++k) {
                        for (index r = 0; r < count; ++r) given[k].push_back(values(begin + r, k));
                        pointers.push_back(given[k].data());
                    }
                    actual.add(begin, count, pointers, weight.data() + begin);
                }
                std::vector<double> sums;
                for (index j = 0; j < span.columns; ++j)
                    for (index k = 0; k < functions; ++k) sums.push_back(actual.sum(j, k));
                CHECK_CLOSE(sums, products(columns, span.first, span.columns, values, 0, functions, weight), 1e-12);
            }
        }
}

// Same bits whatever the instruction set, and the sums of the products of each row.
TEST(cell_products_agree_with_the_baseline) {
    Random random(98);
    constexpr index rows = 60, stride = 70;
    std::vector<double> first(4 * rows), last(4 * rows), factor(rows);
    std::vector<std::vector<double>> functions(9, std::vector<double>(rows));
    for (auto* v : {&first, &last, &factor})
        for (double& value : *v) value = random.uniform(-1.0, 1.0);
    for (auto& values : functions)
        for (double& value : values) value = random.uniform(-1.0, 1.0);
    std::vector<std::uint16_t> order(rows);
    for (auto& row : order) row = std::uint16_t(random.below(rows));
    const RowCell cells[] = {{0, 1, 3}, {1, 20, 0}, {20, 27, 9}, {27, 60, 4}};
    const std::int32_t offsets[] = {0, 7, 30, 50};
    for (const bool is_pair : {false, true})
        for (int n = 1; n <= 9; ++n) {
            const int width = is_pair ? 16 : 4;
            std::vector<const double*> pointers;
            for (int m = 0; m < n; ++m) pointers.push_back(functions[m].data());
            std::vector<double> actual(n * stride, 0.5), baseline = actual, expected = actual;
            const CellProducts products{is_pair ? first.data() : nullptr,
                                        last.data(),
                                        factor.data(),
                                        offsets,
                                        pointers.data(),
                                        n,
                                        stride,
                                        order.data(),
                                        cells,
                                        4};
            kernels().add_cell_products(products, actual.data());
            kernels_baseline.add_cell_products(products, baseline.data());
            CHECK_SAME_BITS(actual, baseline);
            for (const RowCell& cell : cells)
                for (index e = cell.first; e < cell.last; ++e)
                    for (int m = 0; m < n; ++m)
                        for (int i = 0; i < width; ++i)
                            expected[cell.begin + m * stride + offsets[i / 4] + i % 4] +=
                                factor[order[e]] * (is_pair ? first[4 * order[e] + i / 4] : 1.0) *
                                last[4 * order[e] + i % 4] * functions[m][order[e]];
            CHECK_CLOSE(actual, expected, 1e-13);
        }
}

}  // namespace fasthdmr
