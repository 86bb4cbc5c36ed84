// Triangles in higher precision than what is tested, and matrices of a given condition.
#pragma once

#include <cmath>

#include "matrix.hpp"
#include "random.hpp"

namespace fasthdmr {

using Long = long double;

// Column j is the one before it, but for a part `near` of its own: the condition is about 1 / near.
inline Matrix nearly_dependent(index rows, index columns, double near, std::uint64_t seed) {
    Random random(seed);
    Matrix x(rows, columns);
    for (index j = 0; j < columns; ++j)
        for (index i = 0; i < rows; ++i)
            x(i, j) = j % 2 ? x(i, j - 1) + near * random.uniform(-1.0, 1.0) : random.uniform(-1.0, 1.0);
    return x;
}

// R by Gram and Schmidt, twice, in higher precision; column-major.
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

}  // namespace fasthdmr
