#include "linalg/cholesky_qr.hpp"

#include <array>
#include <atomic>
#include <cmath>

#include "dictionary/qr_pass.hpp"
#include "exact.hpp"
#include "harness.hpp"

namespace fasthdmr {

namespace {

Triangle by_reflections(Matrix x) {
    Triangle result(x.columns);
    result.absorb(x.values.data(), x.rows, x.rows);
    result.fix_signs();
    return result;
}

CholeskyQr products(Matrix x) {
    CholeskyQr result(x.columns);
    result.absorb(x.values.data(), x.rows, x.rows);
    return result;
}

// An array that counts the rows that are read. The count shows which algorithms were tried.
class Counting : public ArrayDictionary {
public:
    explicit Counting(const Matrix& x) : ArrayDictionary(x.table(), {{0}}, std::vector<index>(x.columns, 0)) {}
    void fill(const Rows& rows, double* out, index leading) const override {
        count += rows.count;
        ArrayDictionary::fill(rows, out, leading);
    }
    mutable std::atomic<index> count{0};
};

index rows_read(const Matrix& x, const double* y = nullptr, int n_threads = 1) {
    const Counting dictionary(x);
    triangle(dictionary, {x.rows, nullptr, y}, n_threads);
    constexpr index location_rows = 32;  // read first, for the location of the columns
    return dictionary.count - location_rows;
}

// Whether R is bit-identical to that of Householder QR. There must be so few rows that they form a single range.
bool is_by_reflections(const Matrix& x) {
    Matrix all = with_ones(x);
    Triangle reflected(all.columns);
    const index steps = (x.rows + kBlockRows - 1) / kBlockRows;
    for (index s = 0; s < steps; ++s) {
        const index begin = x.rows * s / steps, end = x.rows * (s + 1) / steps;
        reflected.absorb(all.column(0) + begin, end - begin, x.rows);
    }
    reflected.fix_signs();
    const Triangle found = triangle(Counting(x), {x.rows}, 1);
    return std::equal(found.data(), found.data() + all.columns * all.columns, reflected.data());
}

}  // namespace

// The error of Householder QR is a few eps times the condition number. That of Cholesky QR is larger, and would exceed
// the limit of accepted columns.
TEST(triangle_error_grows_with_the_condition) {
    for (const double near : {0.3, 0.1, 1e-4, 1e-8, 1e-10}) {
        const Matrix x = nearly_dependent(300, 8, near, 70);
        const Exact exact(x);
        const double unit = kEps * exact.condition();
        CHECK(exact.condition() > 1.0 / near && exact.condition() < 40.0 / near);
        CHECK(exact.error(by_reflections(x)) < 10 * unit);
        const std::optional<Triangle> found = products(x).triangle();
        CHECK(found.has_value() == (near >= 0.1));
        if (found) CHECK(exact.error(*found) < 64 * unit);
        const std::optional<Triangle> anyhow = products(x).triangle(1e30);
        if (near == 1e-4) CHECK(exact.error(*anyhow) > 64 * unit);  // so the limit is needed
    }
}

TEST(cholesky_qr_merges_and_is_independent_of_scale) {
    Matrix x = nearly_dependent(90, 5, 0.5, 71);
    CholeskyQr merged = products(x);
    merged.merge(CholeskyQr(5));
    merged.merge(merged);  // every row twice: R is multiplied by sqrt(2)
    Triangle twice = *products(x).triangle();
    for (index j = 0; j < 5; ++j)
        for (index i = 0; i <= j; ++i) twice.at(i, j) *= std::sqrt(2.0);
    const std::vector<double> expected(twice.data(), twice.data() + 25);
    const Triangle found = *merged.triangle();
    CHECK_CLOSE(std::vector<double>(found.data(), found.data() + 25), expected, 1e-14);
    for (index j = 0; j < 5; ++j)
        for (index i = 0; i < 90; ++i) x(i, j) *= std::array{1e-40, 1e-20, 1.0, 1e20, 1e40}[j];
    CHECK(Exact(x).error(*products(x).triangle()) < 100 * kEps);
}

TEST(cholesky_qr_rejects_ill_conditioned_columns) {
    const Matrix good = nearly_dependent(50, 4, 0.5, 72);
    CHECK(products(good).triangle().has_value());
    CHECK(products(Matrix(3, 0)).triangle()->columns() == 0);
    const auto refused = [&](double factor, double term, index from) {
        Matrix x = good;
        for (index i = 0; i < 50; ++i) x(i, 2) = factor * x(i, from) + term;
        return !products(x).triangle();
    };
    CHECK(!refused(1.0, 0.0, 2));
    CHECK(refused(0.0, 0.0, 2));     // zero
    CHECK(refused(3.0, 0.0, 0));     // a multiple of another
    CHECK(refused(1e-130, 0.0, 2));  // its square underflows
    CHECK(refused(1e200, 0.0, 2));   // or overflows
    CHECK(refused(1.0, std::nan(""), 2));
    CHECK(!products(Matrix(4, 4)).triangle());
    CHECK(!products(nearly_dependent(3, 4, 0.5, 72)).triangle());  // fewer rows than columns
}

TEST(the_algorithm_is_chosen_by_the_condition) {
    const index rows = 2000, pilot = 2 * 5;
    const Matrix good = nearly_dependent(rows, 4, 0.5, 73), bad = nearly_dependent(rows, 4, 1e-6, 73);
    Matrix zero = good, periodic = good;
    std::fill_n(zero.column(2), rows, 0.0);
    for (index i = 0; i < rows; ++i) periodic(i, 2) = double(i % (rows / pilot) < 100);
    for (const int n_threads : {1, 2, 3, 4})
        for (const Matrix* x : std::initializer_list<const Matrix*>{&good, &bad, &zero, &periodic})
            CHECK(rows_read(*x, nullptr, n_threads) == pilot + rows);  // the pilot rows are enough
    CHECK(!is_by_reflections(good) && !is_by_reflections(bad) && is_by_reflections(zero));
    CHECK(!is_by_reflections(periodic));  // with equally spaced pilot rows, column 2 would be constant
    // If the pilot would be a large part of the rows, Cholesky QR is tried without it. With few rows, Householder QR is
    // used at once.
    CHECK(rows_read(nearly_dependent(1030, 70, 0.5, 74)) == 1030);
    CHECK(rows_read(nearly_dependent(1030, 70, 1e-6, 74)) == 2 * 1030);
    CHECK(rows_read(nearly_dependent(1023, 4, 0.5, 74)) == 1023);
    // The pilot also detects a y in the span of the columns.
    CHECK(rows_read(good, good.column(1)) == 2 * 6 + rows);
}

// Pilot rows are taken in runs of four. If neighbouring rows are similar, columns appear to be dependent, and a second
// pilot of single rows is taken.
TEST(pilot_rows_of_similar_neighbours_are_replaced) {
    constexpr index rows = 2400, columns = 129, pilot = 2 * (columns + 1);
    Matrix x = nearly_dependent(rows, columns, 0.5, 77);
    CHECK(rows_read(x) == pilot + rows);
    for (index j = 0; j < columns; ++j)
        for (index i = 0; i < rows; ++i) x(i, j) = x(i / 8 * 8, j);
    CHECK(rows_read(x) == 2 * pilot + rows);
    const Exact exact(with_ones(x));
    CHECK(exact.error(triangle(Counting(x), {rows}, 2)) < 10 * kEps * exact.condition());
}

TEST(the_condition_is_checked_after_the_pass) {
    Matrix x = nearly_dependent(5000, 4, 0.5, 75);
    x(4321, 0) = x(4321, 3) = 1e7;  // not a pilot row; it makes two columns nearly equal
    CHECK(rows_read(x) == 10 + 2 * 5000);
    const Exact exact(with_ones(x));
    CHECK(exact.error(triangle(Counting(x), {5000}, 2)) < 10 * kEps * exact.condition());
}

TEST(either_algorithm_does_not_depend_on_threads) {
    for (const double near : {0.5, 1e-6}) {
        const Matrix x = nearly_dependent(9000, 4, near, 76);
        const auto bits = [&](int n_threads) {
            const Triangle r = triangle(Counting(x), {x.rows}, n_threads);
            return std::vector<double>(r.data(), r.data() + 25);
        };
        for (const int n_threads : {2, 3, 4}) CHECK_SAME_BITS(bits(n_threads), bits(1));
    }
}

}  // namespace fasthdmr
