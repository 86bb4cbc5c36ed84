// Cholesky factorisation, and an estimate of the condition number. Matrices are n x n and column-major; only the lower
// triangle is read.
#pragma once

#include <vector>

#include "support/arrays.hpp"

namespace fasthdmr {

// Scales a Gram matrix to that of columns of unit norm, and returns the norms; false if a norm is zero or not finite.
bool scale_to_unit(Buffer<double>& g, index n, std::vector<double>& norms);
// Replaces a symmetric matrix by its Cholesky factor; false if it is not positive definite. The upper triangle is
// overwritten.
bool cholesky(double* g, index n, int n_threads = 1, index tile_size = 128);
// LAPACK's estimate of the 1-norm of the inverse of the factored matrix. For a Gram matrix of unit-norm columns that is
// about 1 / (smallest singular value)^2. Infinite if there is no estimate.
double inverse_norm(const double* factor, index n);
// Replaces b by the solution x of L L' x = b, L the Cholesky factor.
void solve_factored(const double* factor, index n, double* b);

}  // namespace fasthdmr
