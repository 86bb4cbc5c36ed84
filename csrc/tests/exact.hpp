// Reference R factors in higher precision, and matrices of a given condition number.
#pragma once

#include <cmath>

#include "linalg/triangle.hpp"
#include "matrix.hpp"
#include "random.hpp"

namespace fasthdmr {

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

// The R factor by modified Gram-Schmidt with reorthogonalisation in higher precision, column-major.
inline std::vector<DoubleDouble> exact_triangle(const Matrix& x) {
    std::vector<DoubleDouble> q(x.values.begin(), x.values.end()), r(x.columns * x.columns);
    const auto dot = [&](index j, index k) {
        DoubleDouble sum;
        for (index i = 0; i < x.rows; ++i) sum += q[j * x.rows + i] * q[k * x.rows + i];
        return sum;
    };
    for (index j = 0; j < x.columns; ++j) {
        for (int pass = 0; pass < 2; ++pass)
            for (index k = 0; k < j; ++k) {
                const DoubleDouble product = dot(k, j);
                r[j * x.columns + k] += product;
                for (index i = 0; i < x.rows; ++i) q[j * x.rows + i] -= product * q[k * x.rows + i];
            }
        r[j * x.columns + j] = sqrt(dot(j, j));
        for (index i = 0; i < x.rows; ++i) q[j * x.rows + i] /= r[j * x.columns + j];
    }
    return r;
}

// A R^-1, column-major.
inline std::vector<DoubleDouble> over(std::vector<DoubleDouble> a, const std::vector<DoubleDouble>& r, index n) {
    for (index j = 0; j < n; ++j)
        for (index i = 0; i < n; ++i) {
            for (index k = 0; k < j; ++k) a[j * n + i] -= a[k * n + i] * r[j * n + k];
            a[j * n + i] /= r[j * n + j];
        }
    return a;
}

inline double size(const std::vector<DoubleDouble>& a) {
    DoubleDouble sum;
    for (const DoubleDouble v : a) sum += v * v;
    return double(sqrt(sum));
}

struct Exact {
    index n;
    std::vector<DoubleDouble> r;

    explicit Exact(const Matrix& x) : n(x.columns), r(exact_triangle(x)) {}

    // The condition number of the columns scaled to unit norm, in the Frobenius norm.
    double condition() const {
        std::vector<DoubleDouble> unit = r, identity(n * n);
        for (index j = 0; j < n; ++j) {
            DoubleDouble sum;
            for (index i = 0; i < n; ++i) sum += r[j * n + i] * r[j * n + i];
            for (index i = 0; i < n; ++i) unit[j * n + i] /= sqrt(sum);
            identity[j * n + j] = 1.0;
        }
        return size(unit) * size(over(identity, unit, n));
    }
    // The norm of (R - R*) R*^-1, R* the exact factor. The relative errors of component functions are of this size.
    double error(const Triangle& triangle) const {
        std::vector<DoubleDouble> difference(triangle.data(), triangle.data() + n * n);
        for (index k = 0; k < n * n; ++k) difference[k] -= r[k];
        return size(over(difference, r, n));
    }
};

}  // namespace fasthdmr
