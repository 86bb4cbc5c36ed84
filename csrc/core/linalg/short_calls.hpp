// Large matrix products and triangular solves, split into short BLAS calls with polls for interruption in between.
#pragma once

#include "support/arrays.hpp"

namespace fasthdmr {

// The largest number of multiplications in one call: about a tenth of a second.
constexpr index kMostMultiplications = 1000000000;

// Adds the lower triangle of A'A to g (columns, columns); A is (rows, columns), column-major.
void add_gram(const double* a, index rows, index columns, index leading, double* g);

// Replaces b (n, count) by the solution of a triangular system. `uplo` is 'L' or 'U'; `transposed` is 'N' or 'T'.
void solve_triangle(char uplo, char transposed, const double* triangle, index n, index leading, double* b, index count);

}  // namespace fasthdmr
