// Reference R factors in long double, and matrices of a given condition number.
#pragma once

#include <cmath>

#include "linalg/triangle.hpp"
#include "matrix.hpp"
#include "random.hpp"

namespace fasthdmr {

using Long = long double;
constexpr double kEps = 0x1p-52;

// Columns 1, 3, 5, ... are their predecessor plus `near` times random numbers. The condition number is about 1 / near.
inline Matrix nearly_dependent(index rows, index columns, double near, std::uint64_t seed) {
    Random random(seed);
    Matrix x(rows, columns);
    for (index j = 0; j < columns; ++j)
        for (index i = 0; i < rows; ++i)
            x(i, j) = j % 2 ? x(i, j - 1) + near * random.uniform(-1.0, 1.0) : random.uniform(-1.0, 1.0);
    return x;
}

// The R factor by modified Gram-Schmidt with reorthogonalisation in long double, column-major.
inline std::vector<Long> exact_triangle(const Matrix& x) {
    std::vector<Long> q(x.values.begin(), x.values.end()), r(x.columns * x.columns, 0.0L);
    const auto dot = [&](index j, index k) {
        Long sum = 0.0L;
        for (index i = 0; i < x.rows; ++i) sum += q[j * x.rows + i] * q[k * x.rows + i];
        return sum;
    };
    for (index j = 0; j < x.columns; ++j) {
        for (int pass = 0; pass < 2; ++pass)
            for (index k = 0; k < j; ++k) {
                const Long product = dot(k, j);
                r[j * x.columns + k] += product;
                for (index i = 0; i < x.rows; ++i) q[j * x.rows + i] -= product * q[k * x.rows + i];
            }
        r[j * x.columns + j] = std::sqrt(dot(j, j));
        for (index i = 0; i < x.rows; ++i) q[j * x.rows + i] /= r[j * x.columns + j];
    }
    return r;
}

// A R^-1, column-major.
inline std::vector<Long> over(std::vector<Long> a, const std::vector<Long>& r, index n) {
    for (index j = 0; j < n; ++j)
        for (index i = 0; i < n; ++i) {
            for (index k = 0; k < j; ++k) a[j * n + i] -= a[k * n + i] * r[j * n + k];
            a[j * n + i] /= r[j * n + j];
        }
    return a;
}

inline double size(const std::vector<Long>& a) {
    Long sum = 0.0L;
    for (const Long v : a) sum += v * v;
    return double(std::sqrt(sum));
}

struct Exact {
    index n;
    std::vector<Long> r;

    explicit Exact(const Matrix& x) : n(x.columns), r(exact_triangle(x)) {}

    // The condition number of the columns scaled to unit norm, in the Frobenius norm.
    double condition() const {
        std::vector<Long> unit = r, identity(n * n, 0.0L);
        for (index j = 0; j < n; ++j) {
            Long sum = 0.0L;
            for (index i = 0; i < n; ++i) sum += r[j * n + i] * r[j * n + i];
            for (index i = 0; i < n; ++i) unit[j * n + i] /= std::sqrt(sum);
            identity[j * n + j] = 1.0L;
        }
        return size(unit) * size(over(identity, unit, n));
    }
    // The norm of (R - R*) R*^-1, R* the exact factor. The relative errors of component functions are of this size.
    double error(const Triangle& triangle) const {
        std::vector<Long> difference(triangle.data(), triangle.data() + n * n);
        for (index k = 0; k < n * n; ++k) difference[k] -= r[k];
        return size(over(difference, r, n));
    }
};

}  // namespace fasthdmr
