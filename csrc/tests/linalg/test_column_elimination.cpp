#include "linalg/column_elimination.hpp"

#include <cmath>

#include "dictionary/qr_pass.hpp"
#include "exact.hpp"
#include "harness.hpp"
#include "linalg/cholesky_qr.hpp"

namespace fasthdmr {

namespace {

constexpr index kRows = 3000, kColumns = 12;

Triangle found(const Matrix& x, int n_threads = 1, const double* weight = nullptr) {
    const ArrayDictionary dictionary(x.table(), {{0}}, std::vector<index>(x.columns, 0));
    return triangle(dictionary, {x.rows, weight}, n_threads);
}

// The error in units of eps times the condition number.
double error(const Matrix& x) {
    const Exact exact(with_ones(x));
    return exact.error(found(x)) / (kEps * exact.condition());
}

// The columns of the second half are linear combinations of those of the first half, plus a part of size `near`.
Matrix mixtures(double near, std::uint64_t seed) {
    Random random(seed);
    Matrix x(kRows, kColumns);
    for (double& value : x.values) value = random.uniform(-1.0, 1.0);
    for (index j = kColumns / 2; j < kColumns; ++j) {
        for (index i = 0; i < kRows; ++i) x(i, j) *= near;
        for (index k = 0; k < kColumns / 2; ++k) {
            const double factor = random.uniform(-1.0, 1.0);
            for (index i = 0; i < kRows; ++i) x(i, j) += factor * x(i, k);
        }
    }
    return x;
}

// Groups of three columns: the second differs from the first by a part of size `near`, and the third from the first by
// the same part, up to near^2. Two eliminations are needed.
Matrix chains(double near, std::uint64_t seed) {
    Random random(seed);
    Matrix x(kRows, kColumns);
    for (double& value : x.values) value = random.uniform(-1.0, 1.0);
    for (index j = 0; j < 6; j += 3)
        for (index i = 0; i < kRows; ++i) {
            const double own = x(i, j + 1);
            x(i, j + 1) = x(i, j) + near * own;
            x(i, j + 2) = x(i, j) - near * own + near * near * x(i, j + 2);
        }
    return x;
}

// The eliminations for (1, X), estimated from all rows.
std::optional<Eliminations> steps_of(const Matrix& x, double largest_inverse = CholeskyQr::kLargestInverse) {
    const Matrix all = with_ones(x);
    Buffer<double> values(all.values.begin(), all.values.end());
    return eliminations(values, all.rows, all.columns, largest_inverse);
}

}  // namespace

TEST(elimination_is_as_accurate_as_householder_qr) {
    for (const double near : {1e-2, 1e-4, 1e-8, 1e-10}) {
        CHECK(steps_of(mixtures(near, 80)) && steps_of(nearly_dependent(kRows, kColumns, near, 81)));
        CHECK(error(mixtures(near, 80)) < 5);
        CHECK(error(nearly_dependent(kRows, kColumns, near, 81)) < 5);
    }
    for (const double near : {1e-2, 1e-4, 1e-5}) {
        CHECK(steps_of(chains(near, 82))->size() == 2);
        CHECK(error(chains(near, 82)) < 5);
    }
}

// Columns with large means are nearly parallel to the constant, but none is nearly dependent on those before it.
TEST(elimination_subtracts_common_means) {
    Random random(88);
    Matrix x(kRows, kColumns);
    for (index j = 0; j < kColumns; ++j)
        for (index i = 0; i < kRows; ++i) x(i, j) = (j % 2 ? 2.0 : -5.0) * (1.0 + random.uniform(-0.3, 0.3));
    constexpr double low = 100.0;
    Buffer<double> values;
    for (const double v : with_ones(x).values) values.push_back(v);
    const auto steps = eliminations(values, kRows, kColumns + 1, low);
    CHECK(steps && steps->size() == 1);
    for (index j = 1; j <= kColumns; ++j) {  // only a multiple of the constant was subtracted
        double sum = 0.0, size = 0.0;
        for (index i = 0; i < kRows; ++i) {
            sum += values[j * kRows + i];
            size = std::max(size, std::abs(values[j * kRows + i] - (x(i, j - 1) - x(0, j - 1) + values[j * kRows])));
        }
        CHECK(std::abs(sum) < 1e-9 * kRows && size < 1e-12);
    }
    CHECK(error(x) < 5);
}

// T is sparse if each column depends on one other column, and dense if it depends on many.
TEST(elimination_is_sparse_or_dense) {
    CHECK((*steps_of(nearly_dependent(400, 40, 1e-5, 90)))[0].is_sparse());
    CHECK(!(*steps_of(mixtures(1e-5, 90)))[0].is_sparse());
}

TEST(no_elimination_of_well_conditioned_columns) {
    CHECK(steps_of(nearly_dependent(kRows, kColumns, 0.5, 83))->empty());
}

TEST(no_elimination_of_exactly_dependent_columns) {
    Matrix same = nearly_dependent(kRows, kColumns, 0.5, 84), zero = same;
    std::copy_n(same.column(3), kRows, same.column(7));
    std::fill_n(zero.column(7), kRows, 0.0);
    CHECK(!steps_of(same) && !steps_of(zero));
    same(0, 7) += 1e-13;
    CHECK(!steps_of(same));
}

// Each column is its predecessor plus a part that becomes smaller and smaller, so that each needs a further
// elimination.
TEST(elimination_is_limited_in_cost) {
    const auto steps_of_chain = [](index length) {
        Random random(89);
        Matrix x(500, 60);
        for (double& value : x.values) value = random.uniform(-1.0, 1.0);
        std::vector<double> near(length, 1.0);
        for (index j = 1; j < length; ++j) near[j] = 0.05 * near[j - 1];
        for (index i = 0; i < x.rows; ++i)
            for (index j = 1; j < length; ++j) x(i, j) = x(i, j - 1) + near[j] * x(i, j);
        return steps_of(x);
    };
    const auto few = steps_of_chain(4);
    CHECK(few && few->size() == 2);
    CHECK(!steps_of_chain(10));
}

TEST(elimination_is_undone) {
    for (const Matrix& x : {mixtures(1e-5, 85), nearly_dependent(kRows, kColumns, 1e-5, 85)}) {
        const Matrix all = with_ones(x);
        Buffer<double> values(all.values.begin(), all.values.end());
        const Eliminations steps = *steps_of(x);
        CHECK(steps.size() == 1);
        steps[0].apply(values.data(), 999, kRows);
        CHECK(values[999] == all.values[999] && values != Buffer<double>(all.values.begin(), all.values.end()));
        steps[0].undo(values.data(), 999, kRows);
        CHECK_CLOSE(std::vector<double>(values.begin(), values.end()), all.values, 1e-15);
    }
}

// Rows outside the pilot change the dependence of columns: large values make columns nearly dependent, or independent.
TEST(elimination_is_checked_on_all_rows) {
    for (const double near : {0.5, 1e-6}) {
        Matrix x = nearly_dependent(kRows, kColumns, near, 86);
        x(kRows - 2, 4) = x(kRows - 2, 9) = 1e8;
        CHECK(error(x) < 10);
        x(kRows - 3, 0) = 1e8;
        x(kRows - 3, 1) = -1e7;
        CHECK(error(x) < 10);
    }
}

TEST(elimination_with_weights_and_any_number_of_threads) {
    Random random(87);
    std::vector<double> weight(kRows);
    for (double& value : weight) value = random.uniform(0.5, 2.0);
    for (const Matrix& x : {mixtures(1e-7, 87), nearly_dependent(kRows, kColumns, 1e-7, 87)}) {
        const auto bits = [&](int n_threads) {
            const Triangle r = found(x, n_threads, weight.data());
            return std::vector<double>(r.data(), r.data() + r.columns() * r.columns());
        };
        for (const int n_threads : {2, 3, 4}) CHECK_SAME_BITS(bits(n_threads), bits(1));
        Matrix weighted = with_ones(x);
        for (index j = 0; j < weighted.columns; ++j)
            for (index i = 0; i < kRows; ++i) weighted(i, j) *= std::sqrt(weight[i]);
        const Exact exact(weighted);
        CHECK(exact.error(found(x, 1, weight.data())) < 5 * kEps * exact.condition());
    }
}

}  // namespace fasthdmr
