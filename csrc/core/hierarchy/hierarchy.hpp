// From the R factor to component functions (spec 3): linear algebra of b x b matrices, without rows.
#pragma once

#include <vector>

#include "linalg/triangular_least_squares.hpp"
#include "support/components.hpp"
#include "support/subspace.hpp"

namespace fasthdmr {

// The triangle R of the weighted columns (1, B), weights summing to 1: its first row holds the means, the rest the
// centred columns. Columns are ordered by subspace, subspaces by order.
struct Measure {
    const double* r;  // p x p, column-major
    index p;
    std::vector<Subspace> subspaces;
    std::vector<index> column_begin;  // subspace s owns columns column_begin[s]:column_begin[s + 1], counted from 1
    LeastSquares columns;
};

// The tolerance is relative, for numerical ranks.
Measure make_measure(const double* r, index p, std::vector<Subspace> subspaces,
                     const std::vector<index>& column_subspace, double tolerance);

struct Decomposition {
    double constant;                 // f_0
    Components components;           // one a subspace
    std::vector<double> variance;    // Var(f_u)
    std::vector<double> covariance;  // Cov(f_u, f)
    double total;                    // Var(f)
};

// Top-down form: f = beta[0] + B beta[1:]; every f_u is orthogonal to the columns of all proper subsets of u.
Decomposition top_down(const Measure& measure, const double* beta, int n_threads);

// The paper's form: A (p x p, column-major, the eta as columns) and nu from A nu = beta.
void eta_matrix(const Measure& measure, double* a, int n_threads);
void solve_nu(const Measure& measure, const double* a, const double* beta, double* nu);

}  // namespace fasthdmr
