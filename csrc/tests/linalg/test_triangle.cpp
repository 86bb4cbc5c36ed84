#include "linalg/triangle.hpp"

#include <cmath>

#include "dictionary/qr_pass.hpp"
#include "harness.hpp"
#include "matrix.hpp"
#include "random.hpp"

namespace fasthdmr {

namespace {

Matrix random_matrix(Random& random, index rows, index columns) {
    Matrix x(rows, columns);
    for (double& v : x.values) v = random.uniform(-1.0, 2.0);
    return x;
}

ArrayDictionary dictionary_of(const Matrix& x) { return {x.table(), {{0}}, std::vector<index>(x.columns, 0)}; }

Matrix as_matrix(const Triangle& triangle) {
    Matrix r(triangle.columns(), triangle.columns());
    r.values.assign(triangle.data(), triangle.data() + r.values.size());
    return r;
}

std::vector<double> bits(const Triangle& triangle) { return as_matrix(triangle).values; }

// R is upper triangular with a diagonal that is not negative, and R'R = X'X.
void check_triangle(const Triangle& triangle, const Matrix& x) {
    const Matrix r = as_matrix(triangle);
    for (index j = 0; j < r.columns; ++j) {
        CHECK(r(j, j) >= 0.0);
        for (index i = j + 1; i < r.rows; ++i) CHECK(r(i, j) == 0.0);
    }
    CHECK_CLOSE(transposed_times(r, r).values, transposed_times(x, x).values, 1e-13);
}

Triangle absorbed(Matrix x, index block) {
    Triangle result(x.columns);
    for (index i = 0; i < x.rows; i += block) result.absorb(x.values.data() + i, std::min(block, x.rows - i), x.rows);
    result.fix_signs();
    return result;
}

}  // namespace

TEST(triangle_of_blocks_of_any_size) {
    Random random(30);
    for (const index columns : {1, 3, 33, 40}) {  // fewer and more than in a panel
        const Matrix x = random_matrix(random, 150, columns);
        for (const index block : {1, 13, 150}) check_triangle(absorbed(x, block), x);
    }
}

TEST(triangle_of_fewer_rows_than_columns) {
    Random random(31);
    for (const index rows : {1, 4}) {
        const Matrix x = random_matrix(random, rows, 9);
        check_triangle(absorbed(x, 2), x);
    }
    CHECK(bits(absorbed(Matrix(0, 3), 1)) == std::vector<double>(9, 0.0));
    CHECK(absorbed(Matrix(5, 0), 1).columns() == 0);
}

TEST(triangle_keeps_zero_and_equal_columns) {
    Random random(32);
    Matrix x = random_matrix(random, 60, 5);
    std::fill_n(x.column(1), 60, 0.0);
    std::copy_n(x.column(0), 60, x.column(3));
    const Triangle triangle = absorbed(x, 17);
    check_triangle(triangle, x);
    CHECK(std::abs(as_matrix(triangle)(3, 3)) < 1e-13);
}

TEST(triangle_merge_is_absorbing_all) {
    Random random(33);
    const Matrix x = random_matrix(random, 100, 6);
    Triangle merged(6);  // an empty one merges too
    for (index begin = 0; begin < 100; begin += 25) {
        Matrix part(25, 6);
        for (index j = 0; j < 6; ++j) std::copy_n(x.column(j) + begin, 25, part.column(j));
        merged.merge(absorbed(part, 10));
    }
    merged.merge(Triangle(6));
    merged.fix_signs();
    check_triangle(merged, x);
    CHECK_CLOSE(bits(merged), bits(absorbed(x, 100)), 1e-13);
    CHECK_THROWS(Error, "same number of columns", merged.merge(Triangle(5)));
}

TEST(triangle_rejects_more_columns_than_lapack_supports) {
    CHECK_THROWS(Error, "columns are too many", Triangle(index(1) << 31));
}

TEST(r_factor_has_means_and_centred_columns) {
    Random random(34);
    for (const index rows : {1, 511, 512, 513, 5000}) {
        const Matrix x = random_matrix(random, rows, 4);
        const std::vector<double> weight(rows, 1.0 / double(rows));
        const Matrix r = as_matrix(triangle(dictionary_of(x), {rows, weight.data()}, 1));
        std::vector<double> means{1.0}, first_row{r(0, 0)};
        for (index j = 0; j < 4; ++j) {
            DoubleDouble sum;
            for (index i = 0; i < rows; ++i) sum += x(i, j);
            means.push_back(double(sum / double(rows)));
            first_row.push_back(r(0, j + 1));
        }
        CHECK_CLOSE(first_row, means, 1e-13);
    }
}

// The centred columns: R without its first row, which holds the means.
std::vector<double> centred(const Triangle& triangle) {
    Matrix r = as_matrix(triangle);
    for (index j = 0; j < r.columns; ++j) r(0, j) = 0.0;
    return r.values;
}

// By Householder QR and by Cholesky QR, weighted and not: R is as accurate as for the same columns without their means.
TEST(r_factor_keeps_the_digits_of_columns_far_from_zero) {
    constexpr double mean = 0x1p30;
    Random random(39);
    for (const index rows : {20, 200, 3200}) {  // some rows have weight zero
        Matrix near = random_matrix(random, rows, 4), far = near;
        std::vector<double> weight(rows), near_y(rows), far_y(rows);
        for (index i = 0; i < rows; ++i) {
            const bool counts = i % 100 >= 10;
            weight[i] = counts ? random.uniform() : 0.0;
            for (index j = 0; j < 3; ++j) {
                near(i, j) = counts ? std::floor(near(i, j) * 0x1p20) * 0x1p-20 : 0.0;
                far(i, j) =
                    counts ? near(i, j) + mean * double(j + 1) : -0x1p50;  // exact; rows of weight 0 must not matter
            }
            near_y[i] = double(random.below(1 << 20)) * 0x1p-20;
            far_y[i] = near_y[i] - mean;
            far(i, 3) = 1.0 / 3.0;
            near(i, 3) = 0.0;
        }
        std::vector<index> list;
        for (index i = 0; i < rows; ++i)
            if (weight[i] > 0) list.push_back(i);
        const Rows counted{0, 1, index(list.size()), list.data()};
        for (const bool weighted : {false, true}) {
            const auto found = [&](const Matrix& x, const std::vector<double>& y) {
                const Sample sample{rows, weighted ? weight.data() : nullptr, y.data()};
                if (weighted) return triangle(dictionary_of(x), sample, 2);
                return triangles(dictionary_of(x), sample, {counted}, 2)[0];
            };
            const Matrix r = as_matrix(found(far, far_y));
            CHECK_CLOSE(centred(found(far, far_y)), centred(found(near, near_y)), 1e-13);
            for (index i = 1; i <= 4; ++i) CHECK(r(i, 4) == 0.0);
            CHECK_CLOSE(r(0, 4), r(0, 0) / 3.0, 1e-15);
            CHECK_CLOSE(r(0, 2), 2.0 * mean * r(0, 0), 1e-8);
        }
    }
}

TEST(r_factor_does_not_depend_on_threads) {
    Random random(35);
    for (const index rows : {100, 4096, 17000}) {  // one range, two, eight
        const Matrix x = random_matrix(random, rows, 3);
        const Sample sample{rows, nullptr, x.column(1)};
        const Triangle one = triangle(dictionary_of(x), sample, 1);
        Matrix all = with_ones(x);
        all.values.insert(all.values.end(), x.column(1), x.column(2));
        ++all.columns;
        check_triangle(one, all);
        const std::vector<Rows> folds = {{0, 2, rows / 2, nullptr}, {1, 2, rows / 2, nullptr}};
        const std::vector<Triangle> parts = triangles(dictionary_of(x), sample, folds, 1);
        for (const int n_threads : {2, 5}) {
            CHECK_SAME_BITS(bits(triangle(dictionary_of(x), sample, n_threads)), bits(one));
            const std::vector<Triangle> threaded = triangles(dictionary_of(x), sample, folds, n_threads);
            for (index k = 0; k < 2; ++k) CHECK_SAME_BITS(bits(threaded[k]), bits(parts[k]));
        }
    }
}

TEST(r_factor_weights_rows_as_if_repeated) {
    Random random(36);
    const index rows = 700;
    const Matrix x = random_matrix(random, rows, 3);
    std::vector<double> weight(rows), repeated_y;
    std::vector<index> repeated;
    for (index i = 0; i < rows; ++i) {
        weight[i] = double(random.below(4));  // some are 0
        repeated.insert(repeated.end(), std::size_t(weight[i]), i);
    }
    std::vector<double> y(rows);
    for (double& v : y) v = random.uniform();
    const Triangle weighted = triangle(dictionary_of(x), {rows, weight.data(), y.data()}, 2);
    const Rows list{0, 1, index(repeated.size()), repeated.data()};
    CHECK_CLOSE(bits(weighted), bits(triangles(dictionary_of(x), {rows, nullptr, y.data()}, {list}, 1)[0]), 1e-13);
    const std::vector<double> zero(rows, 0.0);
    CHECK(bits(triangle(dictionary_of(x), {rows, zero.data()}, 1)) == std::vector<double>(16, 0.0));
}

TEST(r_factors_of_folds_merge_to_that_of_all_rows) {
    Random random(37);
    const index rows = 1601;
    const Matrix x = random_matrix(random, rows, 3);
    const std::vector<double> weight = [&] {
        std::vector<double> w(rows);
        for (double& v : w) v = random.uniform();
        return w;
    }();
    const Sample sample{rows, weight.data(), x.column(0)};
    std::vector<index> lists[3];
    for (index i = 0; i < rows; ++i) lists[random.below(2)].push_back(i);  // the third fold is empty
    std::vector<Rows> by_list, by_stride;
    for (index k = 0; k < 3; ++k) {
        by_list.push_back({0, 1, index(lists[k].size()), lists[k].data()});
        by_stride.push_back({k, 3, (rows - k + 2) / 3, nullptr});
    }
    for (const auto& folds : {by_list, by_stride}) {
        std::vector<Triangle> parts = triangles(dictionary_of(x), sample, folds, 2);
        Triangle merged = parts[2];
        merged.merge(parts[0]);
        merged.merge(parts[1]);
        merged.fix_signs();
        CHECK_CLOSE(bits(merged), bits(triangle(dictionary_of(x), sample, 1)), 1e-13);
    }
    CHECK(bits(triangles(dictionary_of(x), sample, by_list, 1)[2]) == std::vector<double>(25, 0.0));
}

TEST(r_factor_of_no_rows_is_zero) {
    CHECK(bits(triangle(dictionary_of(Matrix(0, 2)), {0}, 2)) == std::vector<double>(9, 0.0));
    CHECK(triangles(dictionary_of(Matrix(0, 2)), {0}, {}, 2).empty());
}

}  // namespace fasthdmr
