#include "linalg/cholesky.hpp"

#include <cmath>

#include "harness.hpp"
#include "matrix.hpp"
#include "random.hpp"

namespace fasthdmr {

namespace {

Buffer<double> random_products(index n, std::uint64_t seed) {
    Random random(seed);
    Matrix x(n + 5, n);
    for (double& v : x.values) v = random.uniform(-1.0, 1.0);
    const Matrix g = transposed_times(x, x);
    return {g.values.begin(), g.values.end()};
}

std::vector<double> lower(const Buffer<double>& g, index n) {
    std::vector<double> result;
    for (index j = 0; j < n; ++j)
        for (index i = j; i < n; ++i) result.push_back(g[j * n + i]);
    return result;
}

}  // namespace

TEST(cholesky_by_tiles_is_that_of_the_whole) {
    for (const index n : {1, 11, 12, 13, 14, 15, 23}) {
        Buffer<double> whole = random_products(n, 100 + std::uint64_t(n));
        Buffer<double> tiles = whole, threaded = whole;
        CHECK(cholesky(whole.data(), n));
        CHECK(cholesky(tiles.data(), n, 1, 3) && cholesky(threaded.data(), n, 3, 3));
        CHECK_CLOSE(lower(tiles, n), lower(whole, n), 1e-13);
        CHECK_SAME_BITS(lower(threaded, n), lower(tiles, n));
    }
}

TEST(cholesky_rejects_indefinite_matrices_in_any_tile) {
    constexpr index n = 14;
    for (index k = 0; k < n; ++k) {
        Buffer<double> g = random_products(n, 120);
        g[k * n + k] = -1.0;
        Buffer<double> whole = g;
        CHECK(!cholesky(whole.data(), n) && !cholesky(g.data(), n, 2, 3));
    }
}

TEST(cholesky_solves_and_estimates_the_condition) {
    constexpr index n = 14;
    const Buffer<double> g = random_products(n, 121);
    Buffer<double> factor = g;
    CHECK(cholesky(factor.data(), n, 1, 3));
    std::vector<double> x(n), b(n, 0.0);
    for (index i = 0; i < n; ++i) x[i] = double(i) - 5.0;
    for (index j = 0; j < n; ++j)
        for (index i = 0; i < n; ++i) b[i] += g[j * n + i] * x[j];
    solve_factored(factor.data(), n, b.data());
    CHECK_CLOSE(b, x, 1e-11);
    double largest = 0.0;  // the 1-norm of the inverse, column by column
    for (index j = 0; j < n; ++j) {
        std::vector<double> column(n, 0.0);
        column[j] = 1.0;
        solve_factored(factor.data(), n, column.data());
        double sum = 0.0;
        for (const double value : column) sum += std::abs(value);
        largest = std::max(largest, sum);
    }
    const double found = inverse_norm(factor.data(), n);  // an estimate, which is a lower bound
    CHECK(found > largest / 3 && found < largest * (1 + 1e-9));
    CHECK(inverse_norm(nullptr, 0) == 0.0);
}

}  // namespace fasthdmr
