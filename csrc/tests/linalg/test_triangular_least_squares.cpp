#include "linalg/triangular_least_squares.hpp"

#include <cmath>

#include "exact.hpp"
#include "harness.hpp"
#include "linalg/triangle.hpp"

namespace fasthdmr {

namespace {

constexpr double kTolerance = 1e-12;

// R of (1, x): the columns of x are 1 to x.columns.
Triangle triangle_of(Matrix x) {
    x = with_ones(x);
    Triangle result(x.columns);
    result.absorb(x.values.data(), x.rows, x.rows);
    result.fix_signs();
    return result;
}

LeastSquares problem(const Triangle& r) { return {r.data(), r.columns(), kTolerance}; }

// A column of R without its first number, the mean.
std::vector<double> centred(const Triangle& r, index column) {
    return {r.data() + column * r.columns() + 1, r.data() + (column + 1) * r.columns()};
}

// Regression of the last column on some of the others, in higher precision.
std::vector<double> exact_solution(const Triangle& r, const std::vector<index>& columns) {
    const index n = index(columns.size()), rows = r.columns() - 1;
    Matrix a(rows, n + 1);
    for (index k = 0; k <= n; ++k) {
        const std::vector<double> column = centred(r, k < n ? columns[k] : rows);
        std::copy(column.begin(), column.end(), a.column(k));
    }
    const std::vector<DoubleDouble> t = exact_triangle(a);
    std::vector<DoubleDouble> x(n);
    for (index k = n; k-- > 0;) {
        x[k] = t[n * (n + 1) + k];
        for (index i = k + 1; i < n; ++i) x[k] -= t[i * (n + 1) + k] * x[i];
        x[k] /= t[k * (n + 1) + k];
    }
    std::vector<double> rounded;
    for (const DoubleDouble value : x) rounded.push_back(double(value));
    return rounded;
}

}  // namespace

// With well-conditioned columns the normal equations are solved. Their error is that of a QR factorisation: a few eps
// times the condition number, which is about 1 / near.
TEST(least_squares_error_grows_with_the_condition) {
    for (const double near : {1.0, 1e-1, 1e-2, 3e-3, 2e-3, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10})
        for (std::uint64_t seed = 80; seed < 85; ++seed) {
            Matrix x = nearly_dependent(60, 9, near, seed);
            const Triangle r = triangle_of(x);
            const std::vector<double> rhs = centred(r, 9);
            const double tolerance = 40 * 0x1p-52 / near;
            const std::vector<index> all{1, 2, 3, 4, 5, 6, 7, 8}, pairs{1, 2, 5, 6}, some{1, 3, 6, 8};
            CHECK_CLOSE(problem(r).solve(all, 9, rhs.data(), 1), exact_solution(r, all), tolerance);
            CHECK_CLOSE(problem(r).solve(pairs, 9, rhs.data(), 1), exact_solution(r, pairs), tolerance);
            // One column of each nearly dependent pair: a well-conditioned subset of ill-conditioned columns.
            CHECK_CLOSE(problem(r).solve(some, 9, rhs.data(), 1), exact_solution(r, some), 1e-13);
            CHECK(problem(r).rank() == 10);
        }
    const Triangle r = triangle_of(nearly_dependent(60, 9, 1e-13, 85));
    CHECK(problem(r).rank() == 6);
    const std::vector<double> rhs = centred(r, 9), half = problem(r).solve({1, 2, 3}, 9, rhs.data(), 1);
    const std::vector<double> whole = problem(r).solve({1, 3}, 9, rhs.data(), 1);
    CHECK_CLOSE(half, (std::vector<double>{whole[0] / 2, whole[0] / 2, whole[1]}), 1e-9);
}

TEST(least_squares_of_several_right_hand_sides) {
    for (const double near : {0.5, 1e-7}) {
        const Triangle r = triangle_of(nearly_dependent(50, 7, near, 86));
        std::vector<double> both = centred(r, 6);
        const std::vector<double> second = centred(r, 7);
        both.insert(both.end(), second.begin(), second.end());
        const std::vector<index> columns{1, 2, 5};
        std::vector<double> expected = problem(r).solve(columns, 7, both.data(), 1);
        const std::vector<double> last = problem(r).solve(columns, 7, second.data(), 1);
        expected.insert(expected.end(), last.begin(), last.end());
        CHECK_CLOSE(problem(r).solve(columns, 7, both.data(), 2), expected, 1e-15 / near);
        CHECK(problem(r).solve({}, 7, both.data(), 2).empty());
    }
}

TEST(least_squares_of_collinear_columns_is_the_minimum_norm_solution) {
    Matrix x = nearly_dependent(40, 5, 0.5, 87);
    for (index i = 0; i < 40; ++i) {
        x(i, 1) = -4.0 * x(i, 0);
        x(i, 3) = 7.0;
    }
    const Triangle r = triangle_of(x);
    const LeastSquares columns = problem(r);
    CHECK(columns.spread(4) == 0.0 && columns.spread(1) > 0.0);
    CHECK(columns.rank() == 4);
    const std::vector<double> rhs = centred(r, 5), solution = columns.solve({1, 2, 3}, 5, rhs.data(), 1);
    CHECK_CLOSE(solution[0], -4.0 * solution[1], 1e-12);  // each has half of the coefficient that one alone would have
    const std::vector<double> alone = columns.solve({1, 3}, 5, rhs.data(), 1);
    CHECK_CLOSE(2.0 * solution[0], alone[0], 1e-12);
    CHECK_CLOSE(solution[2], alone[1], 1e-12);
}

// The first three columns are independent, with standard deviation 1 / sqrt(3) around a mean.
Matrix around(double mean, std::uint64_t seed) {
    Matrix x = nearly_dependent(50, 6, 1.0, seed);
    for (index j = 0; j < 3; ++j)
        for (index i = 0; i < 50; ++i) x(i, j) = x(i, 2 * j) + mean;
    return x;
}

// The numbers of a column with a large mean have rounding errors, so that copies of it are not exact. They must be
// treated as collinear nevertheless, in any order.
TEST(rounding_errors_do_not_change_the_rank) {
    for (const double mean : {1e3, 1e6, 1e9}) {
        Matrix x = around(mean, 88);
        for (index i = 0; i < 50; ++i) {
            x(i, 3) = 3.0 * x(i, 0) + 5.0;
            x(i, 4) = x(i, 0) - mean;  // exact difference: column 0 is its rounded sum with the mean
            for (int step = 0; step < 400; ++step) x(i, 3) *= 0.99;  // each step rounds
            x(i, 3) *= 55.708589294024726;                           // 0.99 to the power of -400
        }
        const Triangle r = triangle_of(x);
        CHECK(problem(r).rank() == 5);
        const std::vector<double> rhs = centred(r, 6);
        const std::vector<double> solution = problem(r).solve({1, 2, 3, 4, 5}, 6, rhs.data(), 1);
        const double rounding = 100 * 0x1p-52 * mean;
        CHECK_CLOSE(3.0 * solution[3], solution[0], rounding);
        CHECK_CLOSE(solution[4], solution[0], rounding);
        const std::vector<double> alone = problem(r).solve({1, 2, 3}, 6, rhs.data(), 1);
        CHECK_CLOSE(3.0 * solution[0], alone[0], rounding);
        CHECK_CLOSE(solution[1], alone[1], rounding);
    }
}

// A direction that exceeds the rounding errors is kept, also if other columns have rounding errors or are collinear.
TEST(small_but_significant_directions_are_kept) {
    Random random(92);
    for (const double near : {1e-1, 1e-4}) {
        Matrix x = nearly_dependent(50, 6, near, 90);
        for (index j = 0; j < 4; ++j)
            for (index i = 0; i < 50; ++i) x(i, j) += 1e9;
        for (index i = 0; i < 50; ++i) x(i, 5) = x(i, 4) + 1e-9 * random.uniform(-1.0, 1.0);
        CHECK(problem(triangle_of(x)).rank() == 7);
        std::copy_n(x.column(4), 50, x.column(0));
        std::copy_n(x.column(4), 50, x.column(1));  // copies, which add no direction
        CHECK(problem(triangle_of(x)).rank() == 5);
    }
}

TEST(regression_finds_intercept_and_coefficients) {
    Matrix x = around(-1e4, 91);
    std::fill_n(x.column(1), 50, 1.0 / 3.0);
    std::copy_n(x.column(0), 50, x.column(4));
    for (index i = 0; i < 50; ++i) x(i, 5) = 7.0 + 2.0 * x(i, 0) - 0.5 * x(i, 2) + 0.25 * x(i, 3);
    const Triangle all = triangle_of(x);
    Matrix r(6, 6);
    for (index j = 0; j < 6; ++j)
        for (index i = 0; i < 6; ++i) r(i, j) = all.data()[j * 7 + i] / std::sqrt(50.0);
    std::vector<double> target(all.data() + 42, all.data() + 48);
    for (double& value : target) value /= std::sqrt(50.0);
    const std::vector<double> beta = regression(r.values.data(), 6, target.data(), kTolerance);
    CHECK(beta[2] == 0.0);
    CHECK_CLOSE(beta, (std::vector<double>{7.0, 1.0, 0.0, -0.5, 0.25, 1.0}), 1e-9);
}

}  // namespace fasthdmr
