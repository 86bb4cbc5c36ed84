#include "spans/bsplines.hpp"

#include <cstring>
#include <limits>

#include "dense_spans.hpp"
#include "kernels/kernels.hpp"
#include "spans/evaluate.hpp"

namespace fasthdmr {

extern const Kernels kernels_baseline;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

// The definition (Cox, de Boor), the last interval closed.
double b_spline(const std::vector<double>& t, int degree, index i, double x) {
    if (degree == 0) return t[i] < t[i + 1] && t[i] <= x && (x < t[i + 1] || (x == t.back() && t[i + 1] == t.back()));
    double value = 0.0;
    if (t[i + degree] > t[i]) value += (x - t[i]) / (t[i + degree] - t[i]) * b_spline(t, degree - 1, i, x);
    if (t[i + degree + 1] > t[i + 1])
        value += (t[i + degree + 1] - x) / (t[i + degree + 1] - t[i + 1]) * b_spline(t, degree - 1, i + 1, x);
    return value;
}

}  // namespace

TEST(axis_holds_b_splines) {
    Random random(80);
    for (int degree = 0; degree < kMaxRun; ++degree)
        for (const std::vector<double>& breaks :
             {std::vector<double>{-1.0, 2.0}, {-1.0, 0.25, 2.0}, {-1.0, -0.9, 0.0, 0.5, 1.9, 2.0}}) {
            const std::vector<double> knots = clamped(degree, breaks);
            const Axis axis(4, degree, knots, false);
            CHECK(axis.variable() == 4 && axis.run() == degree + 1);
            CHECK(axis.columns() == index(breaks.size()) - 1 + degree);
            std::vector<double> points = breaks;
            for (int k = 0; k < 50; ++k) points.push_back(random.uniform(-1.0, 2.0));
            for (const double x : points) {
                const std::vector<double> values = axis_columns(axis, x);
                std::vector<double> desired;
                double sum = 0.0;
                for (index i = 0; i < axis.columns(); ++i) {
                    desired.push_back(b_spline(knots, degree, i, x));
                    CHECK(values[i] >= 0.0);
                    // Local support.
                    if (x < knots[i] || x > knots[i + degree + 1]) CHECK(values[i] == 0.0);
                    sum += values[i];
                }
                CHECK_CLOSE(values, desired, 1e-14);
                CHECK_CLOSE(sum, 1.0, 1e-14);
            }
        }
}

TEST(axis_with_repeated_knots_inside) {
    const std::vector<double> knots = clamped(2, {0.0, 0.5, 0.5, 1.0});
    const Axis axis(0, 2, knots, false);
    for (const double x : {0.0, 0.2, 0.5, 0.75, 1.0}) {
        const std::vector<double> values = axis_columns(axis, x);
        for (index i = 0; i < axis.columns(); ++i) CHECK_CLOSE(values[i], b_spline(knots, 2, i, x), 1e-14);
    }
}

// Numbers that are subnormal differ by subnormal numbers, whose inverse overflows.
TEST(axis_with_intervals_of_any_length) {
    for (int degree = 0; degree < kMaxRun; ++degree)
        for (const int exponent : {-1070, -1030, 1000}) {
            const std::vector<double> breaks{0.0, 3.0, 17.0, 40.0};
            std::vector<double> scaled;
            for (const double x : breaks) scaled.push_back(std::ldexp(x, exponent));
            const Axis axis(0, degree, clamped(degree, scaled), false),
                ordinary(0, degree, clamped(degree, breaks), false);
            for (const double x : {0.0, 1.0, 3.0, 11.0, 39.0, 40.0})
                CHECK_CLOSE(axis_columns(axis, std::ldexp(x, exponent)), axis_columns(ordinary, x), 1e-14);
        }
}

TEST(axis_clamps_what_is_outside) {
    for (int degree = 0; degree < kMaxRun; ++degree) {
        const Axis axis(0, degree, clamped(degree, {-1.0, 0.0, 2.0}), false);
        for (const double x : {-1.0000001, -1e300, -kInfinity})
            CHECK_SAME_BITS(axis_columns(axis, x), axis_columns(axis, -1.0));
        for (const double x : {2.0000001, 1e300, kInfinity})
            CHECK_SAME_BITS(axis_columns(axis, x), axis_columns(axis, 2.0));
        CHECK(axis_columns(axis, -1.0).front() == 1.0 && axis_columns(axis, 2.0).back() == 1.0);
    }
}

TEST(axis_of_normal_scores) {
    Random random(3);
    for (const index n : {2, 3, 8, 13, 256}) {
        std::vector<double> values, scores;
        for (index i = 0; i < n; ++i) {
            const double u = random.uniform();
            values.push_back((i ? values.back() : -2.0) + 0.0025 + 7 * u * u * u * u);
            scores.push_back((i ? scores.back() : -1.0) + random.uniform());
        }
        const std::vector<double> knots =
            clamped(3, {scores.front(), (scores.front() + scores.back()) / 2, scores.back()});
        const Axis of_scores(0, 3, knots, true, NormalScores(values, scores)), plain(0, 3, knots, true);
        std::vector<double> coordinates = values;
        of_scores.to_coordinates(coordinates.data(), n);
        CHECK_SAME_BITS(coordinates, scores);
        for (index i = 0; i + 1 < n; ++i) {
            const double between = (values[i] + values[i + 1]) / 2, score = (scores[i] + scores[i + 1]) / 2;
            double found = between;
            of_scores.to_coordinates(&found, 1);
            CHECK_CLOSE(found, score, 1e-12);
            CHECK_CLOSE(axis_columns(of_scores, between), axis_columns(plain, score), 1e-11);
        }
        CHECK_SAME_BITS(axis_columns(of_scores, values.front() - 1), axis_columns(plain, scores.front()));
        CHECK_SAME_BITS(axis_columns(of_scores, values.back() + 1), axis_columns(plain, scores.back()));
        CHECK_SAME_BITS(axis_columns(of_scores, kNan), axis_columns(plain, kNan));
    }
    CHECK_THROWS(Error, "a score is needed", NormalScores({1.0, 2.0}, {1.0}));
    CHECK_THROWS(Error, "a score is needed", NormalScores({1.0}, {1.0}));
    CHECK_THROWS(Error, "values must be finite and rise", NormalScores({1.0, 1.0}, {1.0, 2.0}));
    CHECK_THROWS(Error, "values must be finite and rise", NormalScores({1.0, 2.0}, {1.0, kNan}));
    CHECK_THROWS(Error, "scores must rise", NormalScores({1.0, 2.0}, {2.0, 1.0}));
    CHECK_THROWS(Error, "the range of the values overflows", NormalScores({-1e308, 1e308}, {1.0, 2.0}));
}

// Same bits whatever the instruction set and the number of rows, and nothing is written beyond the rows.
TEST(scores_and_splines_agree_with_the_baseline) {
    Random random(5);
    std::vector<double> values, scores, x{0.5, kNan, kInfinity, -kInfinity};
    for (index i = 0; i < 40; ++i) {
        values.push_back((i ? values.back() : -2.0) + 0.01 + random.uniform());
        scores.push_back((i ? scores.back() : -1.0) + random.uniform());
    }
    while (x.size() < 300) x.push_back(random.happens(0.2) ? random.one_of(values) : random.uniform(-3.0, 30.0));
    for (const index n : {2, 3, 8, 40})
        for (const index rows : {0, 1, 7, 63, 64, 65, 299}) {
            const auto run = [&](const Kernels& kernels) {
                std::vector<double> at = x, splines(4 * x.size(), -1.0);
                std::vector<std::int32_t> first(x.size(), -1);
                kernels.interpolate(values.data(), scores.data(), n, at.data(), rows);
                kernels.locate(scores.data(), n, at.data(), rows, first.data());
                // The knots of the splines: these scores, and more of them at both ends.
                const std::vector<double> knots = clamped(3, {scores.begin(), scores.begin() + n});
                kernels.evaluate_cubics(knots.data(), first.data(), at.data(), rows, splines.data());
                CHECK(std::memcmp(&at[rows], &x[rows], sizeof(double)) == 0);
                CHECK(first[rows] == -1 && splines[4 * rows] == -1.0);
                splines.insert(splines.end(), at.begin(), at.end());
                splines.insert(splines.end(), first.begin(), first.end());
                return splines;
            };
            CHECK_SAME_BITS(run(kernels()), run(kernels_baseline));
        }
}

TEST(axis_with_missing_values) {
    for (int degree = 0; degree < kMaxRun; ++degree) {
        const std::vector<double> knots = clamped(degree, {0.0, 1.0});  // as few splines as can be
        const Axis with(0, degree, knots, true), without(0, degree, knots, false);
        CHECK(without.columns() == degree + 1 && with.columns() == degree + 2);
        CHECK(axis_columns(without, kNan) == std::vector<double>(degree + 1, 0.0));
        std::vector<double> indicator(degree + 2, 0.0);
        indicator.back() = 1.0;
        CHECK(axis_columns(with, kNan) == indicator);
        for (const double x : {-1.0, 0.0, 0.3, 1.0, kInfinity}) {
            std::vector<double> values = axis_columns(without, x);
            values.push_back(0.0);
            CHECK_SAME_BITS(axis_columns(with, x), values);
        }
    }
}

TEST(axis_of_a_categorical_variable) {
    const Axis axis(0, 0, {-0.5, 0.5, 1.5, 4.5}, false, {}, true);  // levels 2, 3 and 4 share a column
    const std::vector<std::vector<double>> expected{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 1}, {0, 0, 1}, {0, 0, 0}};
    for (int code = 0; code < 6; ++code) CHECK(axis_columns(axis, code) == expected[code]);
    for (const double x : {-1.0, 4.5, 1e9, kInfinity, -kInfinity, kNan})
        CHECK(axis_columns(axis, x) == std::vector<double>(3, 0.0));
}

TEST(axis_rejects_what_it_cannot_use) {
    CHECK_THROWS(Error, "a categorical variable have degree 0", Axis(0, 1, clamped(1, {0.0, 1.0}), false, {}, true));
    CHECK_THROWS(Error, "the degree of a spline must be 0 to 3, got 4", Axis(0, 4, clamped(4, {0.0, 1.0}), false));
    CHECK_THROWS(Error, "the degree of a spline must be 0 to 3, got -1", Axis(0, -1, {0.0, 1.0}, false));
    CHECK_THROWS(Error, "knots must be finite and rise", Axis(0, 0, {0.0, 2.0, 1.0}, false));
    for (const double bad : {kInfinity, -kInfinity, kNan}) {
        CHECK_THROWS(Error, "knots must be finite and rise", Axis(0, 0, {bad, 1.0}, false));
        CHECK_THROWS(Error, "knots must be finite and rise", Axis(0, 0, {0.0, bad}, false));
    }
    for (int degree = 0; degree < kMaxRun; ++degree)
        CHECK_THROWS(Error, "at least degree + 1 splines",
                     Axis(0, degree, std::vector<double>(2 * degree + 1, 0.0), false));
    CHECK_THROWS(Error, "at least degree + 1 splines", Axis(0, 0, {}, true));
    CHECK_THROWS(Error, "no such variable: -1", Axis(-1, 0, {0.0, 1.0}, false));
    CHECK_THROWS(Error, "knots must be finite and rise", Axis(0, 1, {0.0, 0.0, kNan, 1.0, 1.0}, false));
    CHECK_THROWS(Error, "knots must be finite and rise", Axis(0, 3, clamped(3, {-1e308, 1e308}), false));
    // Not clamped; an inner knot twice, or one knot only, where the recursion would divide 0 by 0.
    CHECK_THROWS(Error, "knots must be clamped", Axis(0, 1, {0.0, 1.0, 2.0, 3.0}, false));
    CHECK_THROWS(Error, "knots must be clamped", Axis(0, 1, {0.0, 0.0, 1.0, 1.0, 1.0}, false));
    CHECK_THROWS(Error, "knots must be clamped", Axis(0, 1, {1.0, 1.0, 1.0, 1.0}, false));
}

TEST(spans_count_their_columns) {
    const Spans spans = mixed_spans();
    // Axes: 6 cubic, 4 quadratic and missing, 4 bins; 3 linear, 2 linear and missing, 2 bins.
    const std::vector<std::vector<index>> expected = {{1, 6, 4, 1, 4},  {7, 5, 3, 1, 3},  {12, 4, 1, 1, 1},
                                                      {16, 9, 4, 2, 2}, {25, 6, 2, 2, 1}, {31, 18, 4, 4, 1}};
    CHECK(spans.all().size() == expected.size());
    for (std::size_t s = 0; s < expected.size(); ++s) {
        const Span& span = spans.all()[s];
        CHECK((std::vector<index>{span.first, span.columns, span.values, span.runs, span.run}) == expected[s]);
    }
    CHECK(spans.columns() == 49 && spans.n_features() == 3 && spans.axes().size() == 6);
    const Spans none({}, {}, {});
    CHECK(none.columns() == 1 && none.n_features() == 0 && none.all().empty());
}

TEST(spans_reject_wrong_axes) {
    const std::vector<Axis> axes = {Axis(0, 0, {0.0, 1.0}, false), Axis(1, 0, {0.0, 1.0}, false)};
    CHECK_THROWS(Error, "axes must be in order", Spans(axes, {{0, 1}}, {{1, 0}}));
    CHECK_THROWS(Error, "axes must be in order", Spans(axes, {{0}}, {{1, 1}}));
    CHECK_THROWS(Error, "an axis for each variable", Spans(axes, {{0, 1}}, {{0}}));
    CHECK_THROWS(Error, "an axis for each variable", Spans(axes, {{}}, {{}}));
    CHECK_THROWS(Error, "subspaces must be in order", Spans(axes, {{1}, {0}}, {{1}, {0}}));
    CHECK_THROWS(Error, "subspaces must be in order", Spans(axes, {{0}, {0}}, {{0}, {0}}));
    CHECK_THROWS(Error, "subspaces must be in order", Spans(axes, {{0, 1}, {0}}, {{0, 1}, {0}}));
    CHECK_THROWS(std::out_of_range, "", Spans(axes, {{0}}, {{2}}));
    CHECK_THROWS(std::out_of_range, "", Spans(axes, {{0}}, {{-1}}));
}

TEST(span_blocks_hold_tensor_products) {
    const Spans spans = mixed_spans();
    const Matrix x = correlated(50, 81), all = dense(spans, x);
    const std::vector<index> list = {7, 49, 0, 7, 23};
    SpanBlock block(spans, 50);
    for (const Rows& rows :
         {Rows{0, 1, 50, nullptr}, Rows{3, 4, 11, nullptr}, Rows{0, 1, 5, list.data()}, Rows{0, 1, 0, nullptr}}) {
        block.load(x.table(), rows);
        CHECK(block.rows() == rows.count);
        for (const Span& span : spans.all()) {
            std::vector<double> values, actual(rows.count * span.columns, 0.0), desired;
            std::vector<std::int32_t> starts;
            block.expand(span, 0, rows.count, values, starts);
            CHECK(index(values.size()) == rows.count * span.values && index(starts.size()) == rows.count * span.runs);
            if (rows.count > 4) {
                std::vector<double> part;
                std::vector<std::int32_t> part_starts;
                block.expand(span, 3, 2, part, part_starts);
                const auto from = values.begin() + 3 * span.values;
                CHECK(std::equal(part.begin(), part.end(), from) && index(part.size()) == 2 * span.values);
                CHECK(std::equal(part_starts.begin(), part_starts.end(), starts.begin() + 3 * span.runs));
            }
            for (index r = 0; r < rows.count; ++r) {
                for (index i = 0; i < span.values; ++i) {
                    const index column = starts[r * span.runs + i / span.run] + i % span.run;
                    CHECK(column >= 0 && column < span.columns);
                    actual[r * span.columns + column] += values[r * span.values + i];
                }
                for (index j = 0; j < span.columns; ++j) desired.push_back(all(rows[r], span.first + j));
            }
            CHECK_SAME_BITS(actual, desired);
        }
    }
}

TEST(span_components_at_new_rows) {
    const Spans spans = mixed_spans();
    Random random(94);
    Components components;  // all columns, some twice; the constant alone; nothing
    for (index c = 0; c < 5; ++c) {
        const index entries = c == 3 ? 1 : c == 4 ? 0 : 70;
        for (index e = 0; e < entries; ++e) {
            components.column.push_back(c == 3 ? 0 : c == 0 ? e % spans.columns() : random.below(spans.columns()));
            components.weight.push_back(random.uniform(-1.0, 1.0));
        }
        components.begin.push_back(index(components.column.size()));
    }
    for (const index rows : {index(0), index(1), kBlockRows + 1, 2 * kBlockRows}) {
        const Matrix x = correlated(rows, 95), all = dense(spans, x);
        std::vector<double> desired(5 * rows, 0.0), one(5 * rows, kNan);
        for (index c = 0; c < 5; ++c)
            for (index e = components.begin[c]; e < components.begin[c + 1]; ++e)
                for (index r = 0; r < rows; ++r)
                    desired[c * rows + r] += components.weight[e] * all(r, components.column[e]);
        evaluate(spans, x.table(), components, one.data(), 1);
        CHECK_CLOSE(one, desired, 1e-14);
        for (const int n_threads : {2, 5}) {
            std::vector<double> several(5 * rows, kNan);
            evaluate(spans, x.table(), components, several.data(), n_threads);
            CHECK_SAME_BITS(several, one);
        }
    }
}

}  // namespace fasthdmr
