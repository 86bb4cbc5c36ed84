#include "gram.hpp"

#include <algorithm>
#include <cmath>

#include "harness.hpp"
#include "matrix.hpp"
#include "random.hpp"

namespace fasthdmr {

namespace {

constexpr index kSmallest = 128;  // up to here by eigenvectors, beyond by Cholesky

Matrix random_columns(index rows, index columns, std::uint64_t seed) {
    Random random(seed);
    Matrix b(rows, columns);
    for (double& v : b.values) v = random.uniform(-1.0, 1.0);
    return b;
}

std::vector<double> random_vector(index n, std::uint64_t seed) { return random_columns(n, 1, seed).values; }

// Products over rows; symmetric, so that the memory order does not matter.
Buffer<double> gram_of(const Matrix& b) {
    Matrix g = transposed_times(b, b);
    for (double& v : g.values) v /= double(b.rows);
    return Buffer<double>(g.values.begin(), g.values.end());
}

std::vector<double> times(const Buffer<double>& g, const std::vector<double>& x) {
    const index n = index(x.size());
    std::vector<double> y(n);
    for (index i = 0; i < n; ++i) {
        long double sum = 0.0L;
        for (index j = 0; j < n; ++j) sum += static_cast<long double>(g[i * n + j]) * x[j];
        y[i] = double(sum);
    }
    return y;
}

// Every column twice, the copies behind, times a factor.
Buffer<double> doubled(const Buffer<double>& g, index n, double factor) {
    Buffer<double> all(4 * n * n);
    for (index i = 0; i < 2 * n; ++i)
        for (index j = 0; j < 2 * n; ++j)
            all[i * 2 * n + j] = g[(i % n) * n + j % n] * (i < n ? 1.0 : factor) * (j < n ? 1.0 : factor);
    return all;
}

}  // namespace

TEST(gram_solves_regular_systems) {
    for (const index n : {index(1), index(2), index(30), kSmallest, kSmallest + 1}) {
        const Buffer<double> g = gram_of(random_columns(4 * n + 8, n, 60));
        const std::vector<double> x = random_vector(n, 61);
        CHECK_CLOSE(Gram(g, n).solve(times(g, x)), x, 1e-11);
    }
}

// Large ones are factored tile by tile.
TEST(gram_does_not_depend_on_threads) {
    const index n = 530;
    const Buffer<double> g = gram_of(random_columns(2 * n, n, 76));
    const std::vector<double> x = random_vector(n, 77), right = times(g, x), one = Gram(g, n, 0.0, 1).solve(right);
    CHECK_CLOSE(one, x, 1e-9);
    CHECK_SAME_BITS(Gram(g, n, 0.0, 2).solve(right), one);
}

TEST(gram_of_nothing) {
    CHECK(Gram({}, 0).solve({}).empty());
    CHECK(Gram({}, 0, 1e-6).solve({}).empty());
    CHECK(rank_of({}, 0, 1e-10) == 0);
}

TEST(gram_is_independent_of_the_scale_of_columns) {
    for (const index n : {index(20), kSmallest + 1}) {
        Matrix b = random_columns(4 * n, n, 62);
        for (index j = 0; j < n; ++j)
            for (index i = 0; i < b.rows; ++i) b(i, j) *= std::pow(10.0, double(j % 5) - 2.0);
        const Buffer<double> g = gram_of(b);
        std::vector<double> x = random_vector(n, 63), scaled = x;
        for (index j = 0; j < n; ++j) scaled[j] *= std::pow(10.0, 2.0 - double(j % 5));
        std::vector<double> solution = Gram(g, n).solve(times(g, scaled));
        for (index j = 0; j < n; ++j) solution[j] *= std::pow(10.0, double(j % 5) - 2.0);
        CHECK_CLOSE(solution, x, 1e-10);
    }
}

// Equal columns share equally; of proportional ones, so do the parts that they add.
TEST(gram_shares_equally_between_equal_columns) {
    for (const double factor : {1.0, -3.0})
        for (const index n : {index(1), index(15), index(70)}) {
            const Buffer<double> g = doubled(gram_of(random_columns(4 * n + 8, n, 64)), n, factor);
            std::vector<double> all = random_vector(n, 65), shared(2 * n);
            for (index j = 0; j < n; ++j) {
                shared[j] = 0.5 * all[j];
                shared[n + j] = 0.5 * all[j] / factor;
            }
            all.resize(2 * n, 0.0);
            // Rounding puts some eps over the regularisation (1e-6) into the directions without variance.
            CHECK_CLOSE(Gram(g, 2 * n).solve(times(g, all)), shared, 5e-9);
        }
}

// Directions that columns nearly share are solved, down to where rounding is all they hold: there, columns share equally.
TEST(gram_solves_weak_directions_and_leaves_empty_ones) {
    const auto solution = [](double eigenvalue) {
        const Buffer<double> g = {1.0, 1.0 - eigenvalue, 1.0 - eigenvalue, 1.0};
        return Gram(g, 2).solve(times(g, {1.0, 0.0}));
    };
    for (const double weak : {1e-4, 1e-7, 1e-9}) CHECK_CLOSE(solution(weak), (std::vector<double>{1.0, 0.0}), 1e-15 / weak);
    CHECK_CLOSE(solution(1e-11), (std::vector<double>{0.5, 0.5}), 1e-9);
    // Large ones take as many steps as a weak direction needs.
    constexpr index n = kSmallest + 2;
    for (const double weak : {1e-3, 1e-5}) {
        Matrix b = random_columns(4 * n, n, 74);
        for (index i = 0; i < b.rows; ++i) b(i, 1) = b(i, 0) + std::sqrt(weak) * b(i, 1);
        const Buffer<double> g = gram_of(b);
        const std::vector<double> x = random_vector(n, 75);
        CHECK_CLOSE(Gram(g, n).solve(times(g, x)), x, 1e-13 / weak);
    }
}

// Indicators of bins, centred: they sum to nothing, and least norm of the scaled columns decides.
TEST(gram_gives_the_least_norm) {
    for (const index n : {index(5), kSmallest + 12}) {
        std::vector<double> share = random_vector(n, 66);
        Buffer<double> g(n * n);
        double total = 0.0;
        for (double& s : share) total += (s = 1.5 + 0.5 * s);
        for (index i = 0; i < n; ++i)
            for (index j = 0; j < n; ++j)
                g[i * n + j] = (i == j ? share[i] / total : 0.0) - share[i] * share[j] / (total * total);
        const std::vector<double> x = random_vector(n, 67);
        const std::vector<double> solution = Gram(g, n).solve(times(g, x));
        CHECK_CLOSE(times(g, solution), times(g, x), 1e-10);
        // The empty direction, in units of the scaled columns, is sqrt of the diagonal: nothing may lie along it.
        double along = 0.0, size = 0.0;
        for (index i = 0; i < n; ++i) {
            along += g[i * n + i] * solution[i];
            size += g[i * n + i] * std::abs(solution[i]);
        }
        CHECK(std::abs(along) <= 1e-9 * size);
    }
}

TEST(gram_leaves_empty_columns_at_zero) {
    for (const index n : {index(12), kSmallest + 2}) {
        Matrix b = random_columns(4 * n, n, 68);
        std::fill_n(b.column(3), b.rows, 0.0);
        std::fill_n(b.column(n - 1), b.rows, 1e-9);  // far below what the others hold
        const Buffer<double> g = gram_of(b);
        std::vector<double> x = random_vector(n, 69), right = times(g, x);
        x[3] = x[n - 1] = 0.0;
        right[3] = right[n - 1] = 1e-12;
        const std::vector<double> solution = Gram(g, n).solve(right);
        CHECK(solution[3] == 0.0 && solution[n - 1] == 0.0);
        CHECK_CLOSE(solution, x, 1e-7);  // the last column's part of the right side stays unexplained
    }
    CHECK(Gram(Buffer<double>(9, 0.0), 3).solve({1.0, 2.0, 3.0}) == std::vector<double>(3, 0.0));
}

// The ridge is added to the diagonal as it is, and the damped system is solved to rounding.
TEST(gram_with_a_ridge) {
    constexpr double ridge = 1e-3;
    for (const index n : {index(1), index(10), kSmallest + 1}) {
        Matrix b = random_columns(4 * n + 8, n, 70);
        if (n > 5) std::copy_n(b.column(2), b.rows, b.column(5));
        const Buffer<double> g = gram_of(b);
        const std::vector<double> x = random_vector(n, 71);
        Buffer<double> damped = g;
        for (index i = 0; i < n; ++i) damped[i * n + i] += ridge;
        CHECK_CLOSE(Gram(g, n, ridge).solve(times(damped, x)), x, 1e-11);
    }
    // One column that holds 1, and one that holds far less than the ridge.
    const std::vector<double> solution = Gram({1.0, 0.0, 0.0, 1e-6}, 2, ridge).solve({1.0, 1e-6});
    CHECK_CLOSE(solution, (std::vector<double>{1.0 / (1.0 + ridge), 1e-6 / (1e-6 + ridge)}), 1e-14);
}

TEST(gram_rejects_what_is_not_positive) {
    CHECK_THROWS(Error, "too unequal to be solved for", Gram({1.0, 2.0, 2.0, 1.0}, 2, 1e-6));
}

TEST(rank_counts_directions) {
    const Buffer<double> g = gram_of(random_columns(60, 12, 72));
    CHECK(rank_of(g, 12, 1e-10) == 12);
    CHECK(rank_of(doubled(g, 12, 1e3), 24, 1e-10) == 12);
    CHECK(rank_of(gram_of(random_columns(7, 12, 73)), 12, 1e-10) == 7);
    CHECK(rank_of({4.0, 0.0, 0.0, 0.0}, 2, 1e-10) == 1);
    CHECK(rank_of(Buffer<double>(4, 0.0), 2, 1e-10) == 0);
    // Scaled to a unit diagonal, correlation 0.9 has the eigenvalues 0.1 and 1.9.
    const Buffer<double> two = {1.0, 90.0, 90.0, 1e4};
    CHECK(rank_of(two, 2, 0.09) == 2 && rank_of(two, 2, 0.11) == 1 && rank_of(two, 2, 2.0) == 0);
}

}  // namespace fasthdmr
