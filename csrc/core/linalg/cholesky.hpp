// Cholesky factors, and whether they can be trusted. Matrices are n x n, column-major, lower.
#pragma once

#include <vector>

#include "support/arrays.hpp"

namespace fasthdmr {

// Scales products of columns to those of columns of unit norm, and tells the norms; whether they allow it.
bool scale_to_unit(Buffer<double>& g, index n, std::vector<double>& norms);
// Replaces a symmetric matrix by its factor; false where there is none. What is above the diagonal becomes anything.
bool cholesky(double* g, index n, int n_threads = 1, index tile_size = 128);
// LAPACK's estimate of the 1-norm of the inverse of what was factored: for products of columns of unit norm, about the
// inverse square of their least singular value. Infinite where it cannot be told.
double inverse_norm(const double* factor, index n);
// b <- the solution of g x = b
void solve_factored(const double* factor, index n, double* b);

}  // namespace fasthdmr
