// Large matrix products and triangular solves in short BLAS calls, so that work can be interrupted in between.
#pragma once

#include "support/arrays.hpp"

namespace fasthdmr {

// A call takes up to about so many multiplications: a tenth of a second or so.
constexpr index kMostMultiplications = 1000000000;

// Adds the lower triangle of A'A to g (columns, columns); A is (rows, columns), column-major.
void add_gram(const double* a, index rows, index columns, index leading, double* g);

// b (n, count) becomes the solution with a triangle, `uplo` 'L' or 'U', or with its transpose.
void solve_triangle(char uplo, char transposed, const double* triangle, index n, index leading, double* b, index count);

}  // namespace fasthdmr
