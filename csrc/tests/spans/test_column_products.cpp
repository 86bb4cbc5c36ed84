#include "spans/column_products.hpp"

#include "dense_spans.hpp"

namespace fasthdmr {

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
                CHECK(actual.groups() * actual.run() >= functions);
                for (const index begin : {index(0), later}) {
                    const index count = begin ? rows - later : later;
                    actual.load(begin, count);
                    for (index group = 0; group < actual.groups(); ++group) {
                        std::vector<double> table(count * actual.run(), 0.0);
                        for (index r = 0; r < count; ++r)
                            for (index k = 0; k < actual.run() && group * actual.run() + k < functions; ++k)
                                table[r * actual.run() + k] = values(begin + r, group * actual.run() + k);
                        actual.add(group, table.data(), weight.data() + begin);
                    }
                }
                std::vector<double> sums;
                for (index j = 0; j < span.columns; ++j)
                    for (index k = 0; k < functions; ++k) sums.push_back(actual.sum(j, k));
                CHECK_CLOSE(sums, products(columns, span.first, span.columns, values, 0, functions, weight), 1e-12);
            }
        }
}

}  // namespace fasthdmr
