#include "spans/dense_systems.hpp"

#include "dense_spans.hpp"

namespace fasthdmr {

// Covariances of all columns of some spans, against those of dense columns; more rows than a block, some values missing.
TEST(systems_formed_from_the_rows_are_covariances) {
    const Spans spans = cubic_spans();
    const Matrix x = correlated(2 * kBlockRows + 7, 31), all = dense(spans, x);
    const std::vector<double> weight = random_weights(x.rows, 32);
    double total = 0.0;
    for (const double w : weight) total += w;
    std::vector<double> means(spans.columns(), 0.0);
    for (index j = 0; j < spans.columns(); ++j)
        for (index r = 0; r < x.rows; ++r) means[j] += weight[r] * all(r, j) / total;
    const SpanGram gram(spans, total, means, {}, {});
    const Spanning singles = spans_inside(spans, {0, 1, 2}, 1), pairs = spans_inside(spans, {0, 1, 2}, 2);
    const std::vector<const Spanning*> systems{&singles, &pairs};
    index used = 0;
    form_systems(gram, x.table(), weight.data(), systems, 1, [&](index k, Buffer<double> covariances) {
        ++used;
        std::vector<index> columns;
        for (const index s : *systems[k])
            for (index j = 0; j < spans.all()[s].columns; ++j) columns.push_back(spans.all()[s].first + j);
        const index n = index(columns.size());
        std::vector<double> actual, expected;
        for (index j = 0; j < n; ++j)
            for (index i = j; i < n; ++i) {
                actual.push_back(covariances[j * n + i]);
                expected.push_back(covariance(all.column(columns[i]), all.column(columns[j]), weight));
            }
        CHECK_CLOSE(actual, expected, 1e-13);
    });
    CHECK(used == 2);
}

// One system of dense columns has all pairs of spans to itself. Without pairs of variables, or with all Gram blocks, there
// is nothing to gain; nor if systems together have more entries than the Gram matrix of all their columns.
TEST(dense_systems_are_few_and_lack_gram_blocks) {
    const std::vector<double> knots = clamped(3, {0.0, 1.0});
    const Spans spans({Axis(0, 3, knots, false), Axis(1, 3, knots, false)}, {{0}, {1}, {0, 1}}, {{0}, {1}, {0, 1}});
    const std::vector<double> means(spans.columns(), 0.0);
    const SpanGram none(spans, 1.0, means, {}, {});
    const Spanning single{0}, both{0, 1, 2};
    CHECK(dense_systems(none, {&single, &both}) == std::vector<char>({0, 1}));
    CHECK(dense_systems(none, {&both, &both}) == std::vector<char>({0, 0}));
    const Matrix x = correlated(50, 33, false);
    const SpanGram whole(spans, x.table(), nullptr, 50.0, means, {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}}, 1);
    CHECK(dense_systems(whole, {&both}) == std::vector<char>({0}));
}

}  // namespace fasthdmr
