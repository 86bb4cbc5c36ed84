#include "spans/sorted_gram.hpp"

#include "dense_spans.hpp"
#include "kernels/kernels.hpp"

namespace fasthdmr {

extern const Kernels kernels_baseline;

// Same bits whatever the instruction set, and the sums of outer products.
TEST(span_products_agree_with_the_baseline) {
    Random random(82);
    constexpr index rows = 37, columns = 64;
    const std::vector<double> weight = random_weights(rows, 83);
    for (int run = 1; run <= kMaxRun; ++run)
        for (const index runs : {1, 2, 3, 4, 9}) {
            const index a_run = 1 + random.below(kMaxRun), a_runs = 1 + random.below(3);
            std::vector<double> av(rows * a_runs * a_run), bv(rows * runs * run);
            std::vector<std::int32_t> as(rows * a_runs), bs(rows * runs);
            for (auto* v : {&av, &bv})
                for (double& value : *v) value = random.uniform(-1.0, 1.0);
            for (auto& s : as) s = std::int32_t(random.below(columns - a_run + 1));
            for (auto& s : bs) s = std::int32_t(random.below(columns - run + 1));
            Matrix a(rows, columns), b(rows, columns);
            for (index r = 0; r < rows; ++r) {
                for (index i = 0; i < a_runs * a_run; ++i)
                    a(r, as[r * a_runs + i / a_run] + i % a_run) += av[r * a_runs * a_run + i];
                for (index i = 0; i < runs * run; ++i) b(r, bs[r * runs + i / run] + i % run) += bv[r * runs * run + i];
            }
            const SparseRows sparse_a{av.data(), as.data(), a_runs, int(a_run)};
            const SparseRows sparse_b{bv.data(), bs.data(), runs, run};
            std::vector<double> actual(columns * columns, 0.0), baseline = actual;
            kernels().add_products(sparse_a, sparse_b, weight.data(), rows, actual.data(), columns);
            kernels_baseline.add_products(sparse_a, sparse_b, weight.data(), rows, baseline.data(), columns);
            CHECK_SAME_BITS(actual, baseline);
            CHECK_CLOSE(actual, products(a, 0, columns, b, 0, columns, weight), 1e-13);
        }
}

// Cubic splines of one to three variables, one of them with missing values.
TEST(sorted_span_products_are_sums_over_rows) {
    const auto axis = [](index variable, index inner, bool missing) {
        std::vector<double> knots(4, -3.0);
        for (index k = 0; k < inner; ++k) knots.push_back(-1.0 + 2.0 * double(k + 1) / double(inner + 1));
        knots.insert(knots.end(), 4, 3.0);
        return Axis(variable, 3, knots, missing);
    };
    const Spans spans({axis(0, 2, false), axis(1, 1, true), axis(2, 0, false)}, {{0}, {1}, {0, 1}, {1, 2}, {0, 1, 2}},
                      {{0}, {1}, {0, 1}, {1, 2}, {0, 1, 2}});
    for (const index rows : {1, 15, 16, 17, 900}) {
        const Matrix x = correlated(rows, 84), all = dense(spans, x);
        const std::vector<double> weight = random_weights(rows, 86);
        SpanBlock block(spans, rows);
        block.load(x.table(), {0, 1, rows, nullptr});
        for (const auto& [first, second] : all_pairs(spans)) {
            const Span &a = spans.all()[first], &b = spans.all()[second];
            CHECK(can_sort(spans, a, b, 20000));
            std::vector<double> actual(a.columns * b.columns, 0.0);
            add_sorted_products(spans, block, a, b, weight.data(), actual.data());
            CHECK_CLOSE(actual, products(all, a.first, a.columns, all, b.first, b.columns, weight), 1e-13);
        }
    }
    const Spans mixed = mixed_spans();
    CHECK(can_sort(mixed, mixed.all()[0], mixed.all()[0], 1) && !can_sort(mixed, mixed.all()[0], mixed.all()[1], 1));
    CHECK(!can_sort(spans, spans.all()[4], spans.all()[4], 100));  // more cells than rows
}

// Same bits whatever the instruction set.
TEST(products_within_a_cell_agree_with_the_baseline) {
    Random random(96);
    constexpr index rows = 40;
    std::vector<double> values[2 * kMostFactors], weight = random_weights(rows, 97);
    CellProduct product{{}, {}, 0, 0, weight.data(), nullptr, nullptr};
    for (int k = 0; k < 2 * kMostFactors; ++k) {
        for (index i = 0; i < 4 * rows; ++i) values[k].push_back(random.uniform(-1.0, 1.0));
        (k < kMostFactors ? product.a[k] : product.b[k - kMostFactors]) = values[k].data();
    }
    const std::vector<std::int32_t> chosen = {3, 39, 0, 7, 7, 12, 30, 1, 2, 4, 5, 6, 8, 9, 10, 11, 13, 14, 20};
    std::vector<std::int32_t> offsets, row_offsets;
    for (std::int32_t i = 0; i < 64; ++i) {
        offsets.push_back(i / 4 * 5 + i % 4);
        row_offsets.push_back(i * 100);
    }
    product.offsets = offsets.data();
    product.row_offsets = row_offsets.data();
    for (product.factors_a = 1; product.factors_a <= kMostFactors; ++product.factors_a)
        for (product.factors_b = 1; product.factors_b <= kMostFactors; ++product.factors_b) {
            std::vector<double> actual(6400, 0.0), baseline = actual;
            kernels().add_cell(product, chosen.data(), index(chosen.size()), actual.data());
            kernels_baseline.add_cell(product, chosen.data(), index(chosen.size()), baseline.data());
            CHECK_SAME_BITS(actual, baseline);
        }
}

}  // namespace fasthdmr
