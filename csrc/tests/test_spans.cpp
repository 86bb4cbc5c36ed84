#include "spans.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gram.hpp"
#include "harness.hpp"
#include "matrix.hpp"
#include "random.hpp"
#include "span_evaluate.hpp"
#include "span_hierarchy.hpp"
#include "span_moments.hpp"

namespace fasthdmr {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<double> clamped(std::vector<double> inner, int degree) {
    inner.insert(inner.begin(), degree, inner.front());
    inner.insert(inner.end(), degree, inner.back());
    return inner;
}

// Three variables: cubic with a missing column, bins, quadratic; spans of order 1 and 2, and the triple.
Spans make_spans() {
    std::vector<Axis> axes{{0, 3, clamped({0.0, 0.3, 0.5, 1.0}, 3), true}, {1, 0, {0.0, 0.25, 0.5, 1.0}, false},
                           {2, 2, clamped({0.0, 0.5, 1.0}, 2), false},     {0, 1, clamped({0.0, 1.0}, 1), true}};
    return Spans(std::move(axes), {{0}, {1}, {2}, {0, 1}, {1, 2}, {0, 1, 2}}, {{0}, {1}, {2}, {3, 1}, {1, 2}, {3, 1, 2}});
}

Matrix make_rows(index n, std::uint64_t seed, bool missing = true) {
    Random random(seed);
    Matrix x(n, 3);
    for (double& v : x.values) v = random.uniform(-0.2, 1.2);
    if (missing)
        for (index i = 0; i < n; i += 7) x(i, 0) = kNaN;
    return x;
}

// All columns of all spans at all rows, the constant first: column by column from the axes.
Matrix dense(const Spans& spans, const Matrix& x) {
    Matrix out(x.rows, spans.columns());
    double values[kMaxRun];
    for (index i = 0; i < x.rows; ++i) {
        out(i, 0) = 1.0;
        for (const Span& span : spans.all()) {
            std::vector<double> product{1.0};
            for (const index a : span.axes) {
                const Axis& axis = spans.axes()[a];
                std::vector<double> column(axis.columns(), 0.0), next;
                const index first = axis.evaluate(x(i, axis.variable()), values);
                for (int j = 0; j < axis.run(); ++j) column[first + j] = values[j];
                for (const double p : product)
                    for (const double c : column) next.push_back(p * c);
                product = next;
            }
            for (index j = 0; j < span.columns; ++j) out(i, span.first + j) = product[j];
        }
    }
    return out;
}

std::vector<std::pair<index, index>> all_pairs(const Spans& spans) {
    std::vector<std::pair<index, index>> pairs;
    for (index a = 0; a < index(spans.all().size()); ++a)
        for (index b = a; b < index(spans.all().size()); ++b) pairs.emplace_back(a, b);
    return pairs;
}

}  // namespace

TEST(an_axis_is_a_partition_of_unity_of_local_functions) {
    double values[kMaxRun];
    for (int degree = 0; degree <= 3; ++degree) {
        const Axis axis(0, degree, clamped({-1.0, 0.0, 0.5, 2.0}, degree), true);
        CHECK(axis.run() == degree + 1 && axis.columns() == 3 + degree + 1);
        for (const double x : {-5.0, -1.0, -0.3, 0.0, 0.5, 1.999, 2.0, 1e300, std::numeric_limits<double>::infinity()}) {
            const index first = axis.evaluate(x, values);
            double sum = 0.0;
            for (int j = 0; j <= degree; ++j) sum += values[j];
            CHECK(std::abs(sum - 1.0) < 1e-14);
            CHECK(first >= 0 && first + degree < axis.columns() - 1);
        }
        const index first = axis.evaluate(kNaN, values);
        CHECK(first + degree == axis.columns() - 1 && values[degree] == 1.0);
        const Axis without(0, degree, clamped({-1.0, 2.0}, degree), false);
        without.evaluate(kNaN, values);
        for (int j = 0; j <= degree; ++j) CHECK(values[j] == 0.0);
    }
}

TEST(axes_and_spans_that_make_no_sense_are_rejected) {
    CHECK_THROWS(Error, "degree", Axis(0, 4, clamped({0.0, 1.0}, 4), false));
    CHECK_THROWS(Error, "rise", Axis(0, 0, {0.0, 2.0, 1.0}, false));
    CHECK_THROWS(Error, "at least", Axis(0, 3, {0.0, 0.0, 1.0, 1.0}, false));
    CHECK_THROWS(Error, "another variable", Spans({{0, 0, {0.0, 1.0}, false}}, {{1}}, {{0}}));
    CHECK_THROWS(Error, "in order",
                 Spans({{0, 0, {0.0, 1.0}, false}, {1, 0, {0.0, 1.0}, false}}, {{1}, {0}}, {{1}, {0}}));
}

TEST(moments_are_the_sums_of_dense_products) {
    const Spans spans = make_spans();
    for (const index n : {1, 511, 513, 5000}) {
        const Matrix x = make_rows(n, n);
        Random random(3);
        Matrix y(n, 2);
        for (double& v : y.values) v = random.uniform(-1.0, 1.0);
        std::vector<double> weight(n);
        for (double& w : weight) w = random.uniform(0.0, 2.0);
        const Matrix columns = dense(spans, x);
        Matrix weighted = columns;
        for (index j = 0; j < columns.columns; ++j)
            for (index i = 0; i < n; ++i) weighted(i, j) *= weight[i];
        const Matrix g = transposed_times(weighted, columns), with_y = transposed_times(weighted, y);
        const ArrayTargets targets(y.table());
        const SpanMoments m = span_moments(spans, x.table(), weight.data(), targets, all_pairs(spans), 1);
        double worst = 0.0;
        for (std::size_t p = 0; p < m.pairs.size(); ++p) {
            const Span &a = spans.all()[m.pairs[p].first], &b = spans.all()[m.pairs[p].second];
            for (index i = 0; i < a.columns; ++i)
                for (index j = 0; j < b.columns; ++j)
                    worst = std::fmax(worst, std::abs(m.products[p][i * b.columns + j] - g(a.first + i, b.first + j)));
        }
        for (index j = 0; j < spans.columns(); ++j) {
            worst = std::fmax(worst, std::abs(m.with_targets[j * 3] - g(j, 0)));
            for (index t = 0; t < 2; ++t) worst = std::fmax(worst, std::abs(m.with_targets[j * 3 + 1 + t] - with_y(j, t)));
        }
        CHECK(worst < 1e-12 * double(n));
        for (const int threads : {2, 5}) {
            const SpanMoments other = span_moments(spans, x.table(), weight.data(), targets, all_pairs(spans), threads);
            CHECK_SAME_BITS(other.with_targets, m.with_targets);
            CHECK_SAME_BITS(other.of_targets, m.of_targets);
            for (std::size_t p = 0; p < m.pairs.size(); ++p) CHECK_SAME_BITS(other.products[p], m.products[p]);
        }
    }
}

TEST(gram_systems_small_and_large_are_solved_with_least_norm) {
    for (const index n : {0, 1, 5, 60, 200}) {
        Random random(n);
        Matrix a(2 * n + 1, n);
        for (double& v : a.values) v = random.uniform(-1.0, 1.0);
        for (index i = 0; i < a.rows && n > 2; ++i) {
            a(i, 1) = a(i, 0);  // equals share equally
            a(i, 2) = 0.0;
        }
        const Matrix g = transposed_times(a, a);
        std::vector<double> truth(n, 0.0), b(n, 0.0), image(n, 0.0);
        for (double& v : truth) v = random.uniform(-1.0, 1.0);
        for (index j = 0; j < n; ++j)
            for (index i = 0; i < n; ++i) b[i] += g(i, j) * truth[j];
        const std::vector<double> x = Gram(g.values, n).solve(b);
        for (index j = 0; j < n; ++j)
            for (index i = 0; i < n; ++i) image[i] += g(i, j) * x[j];
        CHECK_CLOSE(image, b, 1e-10);
        if (n > 2) CHECK(std::abs(x[0] - x[1]) < 1e-9 && x[2] == 0.0);
        CHECK(rank_of(g.values, n, 1e-10) == (n > 2 ? n - 2 : n));
    }
}

TEST(components_are_orthogonal_sum_to_the_projection_and_are_evaluated) {
    const Spans spans = make_spans();
    const index n = 1500;
    const Matrix x = make_rows(n, 9, false), columns = dense(spans, x);
    Matrix y(n, 1);
    for (index i = 0; i < n; ++i) y(i, 0) = std::sin(3 * x(i, 0)) + x(i, 1) * x(i, 2) + x(i, 0) * x(i, 1) * x(i, 2);
    const SpanMoments m = span_moments(spans, x.table(), nullptr, ArrayTargets(y.table()), all_pairs(spans), 2);
    const index n_spans = index(spans.all().size());
    const OutputPlan rest{std::vector<index>(n_spans, -1), 1, 1, true};
    OutputPlan faithful = rest;
    faithful.rest = -1;
    faithful.own[n_spans - 1] = 1;
    faithful.smooth = false;
    for (const OutputPlan& plan : {rest, faithful}) {
        const Decomposition d = span_top_down(spans, m, plan, 2);
        Matrix values(n, n_spans);
        evaluate(spans, x.table(), d.components, values.values.data(), 2);
        if (!plan.smooth)
            for (index i = 0; i < n; ++i) values(i, n_spans - 1) += y(i, 0);
        const Matrix overlap = transposed_times(columns, values);
        double residual = 0.0, total = 0.0, worst = 0.0;
        for (index s = 0; s < n_spans; ++s) {
            const Subspace& u = spans.all()[s].subspace;
            worst = std::fmax(worst, std::abs(overlap(0, s)));
            for (index v = 0; v < s; ++v) {
                const Span& lower = spans.all()[v];
                if (lower.subspace.size() >= u.size()) continue;
                if (!std::includes(u.begin(), u.end(), lower.subspace.begin(), lower.subspace.end())) continue;
                for (index j = 0; j < lower.columns; ++j) worst = std::fmax(worst, std::abs(overlap(lower.first + j, s)));
            }
            double square = 0.0;
            for (index i = 0; i < n; ++i) square += values(i, s) * values(i, s) / double(n);
            CHECK(std::abs(square - d.variance[s]) < 1e-10);
        }
        CHECK(worst < 1e-8);
        for (index i = 0; i < n; ++i) {
            double sum = d.constant;
            for (index s = 0; s < n_spans; ++s) sum += values(i, s);
            residual += (y(i, 0) - sum) * (y(i, 0) - sum);
            total += y(i, 0) * y(i, 0);
        }
        CHECK(residual < (plan.smooth ? 0.05 : 1e-20) * total);
    }
    SpanMoments few = span_moments(spans, x.table(), nullptr, ArrayTargets(y.table()), {{0, 0}}, 1);
    CHECK_THROWS(Error, "missing", span_top_down(spans, few, rest, 1));
    OutputPlan wrong = rest;
    wrong.whole = 5;
    CHECK_THROWS(Error, "no such target", span_top_down(spans, m, wrong, 1));
}

}  // namespace fasthdmr
