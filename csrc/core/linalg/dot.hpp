// The dot product of two vectors.
#pragma once

#include "support/arrays.hpp"

namespace fasthdmr {

// Four partial sums: with a single one, each addition would wait for the one before.
inline double dot(const double* a, const double* b, index n) {
    double sums[4] = {0.0, 0.0, 0.0, 0.0};
    index i = 0;
    for (; i + 4 <= n; i += 4)
        for (index k = 0; k < 4; ++k) sums[k] += a[i + k] * b[i + k];
    for (; i < n; ++i) sums[0] += a[i] * b[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace fasthdmr
