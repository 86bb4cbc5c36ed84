// Cholesky factors, and whether they can be trusted. Matrices are n x n, column-major, lower.
#pragma once

#include "types.hpp"

namespace fasthdmr {

// Replaces a symmetric matrix by its factor; false where there is none.
bool cholesky(double* g, index n);
// The 1-norm of the inverse of what was factored: for a unit diagonal, at most the square of the condition of the columns
// whose products were factored, and at least that of the reciprocal of their least singular value.
double inverse_norm(const double* factor, index n);
// b <- the solution of g x = b
void solve_factored(const double* factor, index n, double* b);

}  // namespace fasthdmr
