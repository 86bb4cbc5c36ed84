#include "spans/tensor_sums.hpp"

#include <cmath>
#include <numeric>

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

namespace {

Buffer<double> expanded(const ProductBasis& basis, const Buffer<double>& sums, const Axis& a, const Axis* b) {
    const Buffer<double> matrix = basis.expansion(kProductRun, a, b);
    const index columns = index(matrix.size() / sums.size());
    Buffer<double> result(columns, 0.0);
    for (index r = 0; r < index(sums.size()); ++r)
        for (index j = 0; j < columns; ++j) result[j] += sums[r] * matrix[r * columns + j];
    return result;
}

}  // namespace

// Products of splines with different knots of one variable, some values missing, others outside the knots or on them.
TEST(product_bases_hold_splines_and_their_products) {
    const Axis fine(0, 3, clamped(3, {-1.0, -0.5, 0.0, 1e-9, 0.25, 1.0}), true);
    for (const Axis& coarse :
         {Axis(0, 3, clamped(3, {-1.0, 0.1, 1.0}), true), Axis(0, 3, clamped(3, {-1.0, 0.0, 1.0}), false),
          Axis(0, 3, clamped(3, {-1.0, 0.0, 0.0, 0.0, 0.0, 1.0}), true), fine}) {
        const ProductBasis basis({&coarse, &fine});
        for (const double x :
             {-2.0, -1.0, -0.7, -0.5, -0.1, 0.0, 3e-10, 1e-9, 0.1, 0.17, 0.5, 1.0, 3.0, std::nan("")}) {
            Buffer<double> sums(basis.cells() * kProductRun, 0.0);
            double values[kProductRun];
            std::int32_t start;
            basis.evaluate(&x, 1, values, &start);
            CHECK(std::all_of(values, values + kProductRun, [](double v) { return v >= 0; }));
            std::copy_n(values, kProductRun, sums.begin() + start);
            const std::vector<double> a = axis_columns(coarse, x), b = axis_columns(fine, x);
            std::vector<double> expected;
            for (const double v : a)
                for (const double w : b) expected.push_back(v * w);
            const Buffer<double> products = expanded(basis, sums, coarse, &fine);
            CHECK_CLOSE(std::vector<double>(products.begin(), products.end()), expected, 1e-14);
            const Buffer<double> single = expanded(basis, sums, coarse, nullptr);
            CHECK_CLOSE(std::vector<double>(single.begin(), single.end()), a, 1e-14);
        }
    }
}

TEST(without_missing_values_a_product_basis_has_no_columns_for_them) {
    const Axis axis(0, 3, clamped(3, {0.0, 0.5, 1.0}), false);
    const ProductBasis basis({&axis});
    const double missing = std::nan("");
    double values[kProductRun];
    std::int32_t start;
    basis.evaluate(&missing, 1, values, &start);
    CHECK(basis.cells() == 2);
    CHECK(start == 0);
    CHECK(std::all_of(values, values + kProductRun, [](double v) { return v == 0; }));
}

namespace {

TensorFactors factors_of(const Spans& spans, ProductBases& bases, index a, index b, index rows) {
    return tensor_factors(spans, bases, spans.all()[a], spans.all()[b], rows);
}

std::vector<index> all_of(const ProductBases& bases) {
    std::vector<index> numbers(bases.size());
    std::iota(numbers.begin(), numbers.end(), index(0));
    return numbers;
}

}  // namespace

// Cubic splines of one to three variables, those of a variable with other knots alone than with others: whether bases
// are shared, where rows are many, or not.
TEST(products_of_spans_are_sums_over_rows) {
    const Spans plain = cubic_spans();
    // The first and the last column are a group.
    const Spans grouped(plain.axes(), {{0}, {1}, {0, 1}}, {{1, 5}, {2}, {1, 3, 5}});
    for (const Spans& spans : {plain, grouped})
        for (const index rows : {500, 5000}) {
            const Matrix x = correlated(900, 84), all = dense(spans, x);
            const std::vector<double> weight = random_weights(x.rows, 86);
            ProductBases bases(spans, rows);
            for (const auto& [a, b] : all_pairs(spans)) factors_of(spans, bases, a, b, 1 << 20);
            if (spans.all().size() == 7) CHECK(bases.size() == (rows == 500 ? 9 : 3));
            bases.reserve(x.rows, all_of(bases));
            for (const auto& [first, second] : all_pairs(spans)) {
                const Span &a = spans.all()[first], &b = spans.all()[second];
                TensorSums sums(spans, bases, factors_of(spans, bases, first, second, 1 << 20));
                for (index begin = 0; begin < x.rows; begin += 500) {
                    const index count = std::min<index>(500, x.rows - begin);
                    SpanBlock block(spans, x.rows);
                    block.load(x.table(), {begin, 1, count, nullptr});
                    bases.load(x.table(), {begin, 1, count, nullptr}, 1);
                    sums.add(block, weight.data() + begin);
                }
                CHECK_CLOSE(sums.products(a, b), products(all, a.first, a.columns, all, b.first, b.columns, weight),
                            1e-13);
            }
        }
}

// The products of a pair hold those of its variables, and the products of two pairs those of a third variable.
TEST(sums_of_polynomials_hold_those_of_splines) {
    const Spans spans = cubic_spans();
    const Matrix x = correlated(900, 84), all = dense(spans, x);
    const std::vector<double> weight = random_weights(x.rows, 86);
    ProductBases bases(spans, 5000);
    const std::vector<std::pair<SpanPairs, bool>> cases{
        {{{3, 3}, {0, 3}}, true}, {{{3, 3}, {0, 1}}, true}, {{{3, 4}, {0, 5}}, true}, {{{3, 4}, {1, 4}}, false}};
    for (const auto& [pairs, expected] : cases) {
        const TensorFactors some = factors_of(spans, bases, pairs[0].first, pairs[0].second, 5000),
                            others = factors_of(spans, bases, pairs[1].first, pairs[1].second, 5000);
        CHECK(determines(bases, some, others) == expected);
        CHECK(!determines(bases, others, some));
        if (!expected) continue;
        TensorSums sums(spans, bases, some);
        SpanBlock block(spans, x.rows);
        bases.reserve(x.rows, all_of(bases));
        block.load(x.table(), {0, 1, x.rows, nullptr});
        bases.load(x.table(), {0, 1, x.rows, nullptr}, 1);
        sums.add(block, weight.data());
        const Span &a = spans.all()[pairs[1].first], &b = spans.all()[pairs[1].second];
        CHECK_CLOSE(sums.products(a, b), products(all, a.first, a.columns, all, b.first, b.columns, weight), 1e-13);
    }
}

TEST(only_cubics_on_one_line_are_multiplied_by_their_polynomials) {
    const std::vector<double> knots = clamped(3, {0.0, 1.0});
    const auto has_factors = [&](const Axis& single, const Axis& in_pair, index rows) {
        const Spans spans({single, in_pair, Axis(1, 3, knots, false)}, {{0}, {0, 1}}, {{0}, {1, 2}});
        ProductBases bases(spans, rows);
        return !factors_of(spans, bases, 0, 1, rows).empty();
    };
    const Axis axis(0, 3, knots, false);
    CHECK(has_factors(axis, axis, 100) && !has_factors(axis, axis, 3));  // 64 products, more than 16 for each row
    CHECK(!has_factors(axis, Axis(0, 2, clamped(2, {0.0, 1.0}), false), 100));
    CHECK(!has_factors(axis, Axis(0, 3, clamped(3, {0.0, 2.0}), false), 100));
    CHECK(!has_factors(axis, Axis(0, 3, knots, false, NormalScores({0.0, 1.0}, {-1.0, 1.0})), 100));
}

// Same bits whatever the instruction set.
TEST(tensor_products_agree_with_the_baseline) {
    Random random(96);
    constexpr index rows = 40;
    const std::vector<double> weight = random_weights(rows, 97);
    std::vector<double> values[kMostFactors];
    for (auto& v : values)
        for (index i = 0; i < 8 * rows; ++i) v.push_back(random.uniform(-1.0, 1.0));
    for (int factors = 1; factors <= kMostFactors; ++factors)
        // A variable of both spans, each of up to three, takes the place of two.
        for (int eights = 0; eights <= std::min(factors, kMostFactors - factors); ++eights) {
            std::vector<std::int32_t> begin, offsets;
            for (index r = 0; r < rows; ++r) begin.push_back(std::int32_t(random.below(50)));
            TensorRows t{{}, {}, factors, 11, nullptr, begin.data()};
            std::size_t outer = 1;
            for (int k = 0; k < factors; ++k) {
                t.values[k] = values[k].data();
                t.runs[k] = k >= factors - eights ? 8 : 4;
                if (k + 2 < factors) outer *= std::size_t(t.runs[k]);
            }
            for (std::size_t i = 0; i < outer; ++i) offsets.push_back(std::int32_t(i) * 100);
            t.offsets = offsets.data();
            std::vector<double> actual(100 * outer + 50, 0.0), baseline = actual;
            kernels().add_tensors(t, weight.data(), rows, actual.data());
            kernels_baseline.add_tensors(t, weight.data(), rows, baseline.data());
            CHECK_SAME_BITS(actual, baseline);
        }
}

}  // namespace fasthdmr
