// Hierarchically orthogonal component functions from the R factor of the dictionary columns. Matrices are as large as
// the dictionary; rows are not needed.
#pragma once

#include <vector>

#include "linalg/triangular_least_squares.hpp"
#include "support/components.hpp"
#include "support/subspace.hpp"

namespace fasthdmr {

// The inner product of the dictionary columns B, given by R of the weighted columns (1, B) with weights that sum to 1.
// The first row of R holds the means, the other rows hold the centred columns. Columns are sorted by subspace, and
// subspaces by order.
struct Measure {
    const double* r;  // p x p, column-major
    index p;
    std::vector<Subspace> subspaces;
    std::vector<index> column_begin;  // subspace s has columns column_begin[s]:column_begin[s + 1], numbered from 1
    LeastSquares columns;
};

// `tolerance` is the relative tolerance of numerical ranks.
Measure make_measure(const double* r, index p, std::vector<Subspace> subspaces,
                     const std::vector<index>& column_subspace, double tolerance);

struct Decomposition {
    double constant;                 // f_0
    Components components;           // f_u, one for each subspace
    std::vector<double> variance;    // Var(f_u)
    std::vector<double> covariance;  // Cov(f_u, f)
    double total;                    // Var(f)
};

// Decomposes f = beta[0] + B beta[1:] in one top-down pass. Every f_u is orthogonal to the columns of all proper
// subsets of u.
Decomposition top_down(const Measure& measure, const double* beta, int n_threads);

// The same in the paper's notation: the matrix A (p x p, column-major, with the columns eta), and nu with A nu = beta.
void eta_matrix(const Measure& measure, double* a, int n_threads);
void solve_nu(const Measure& measure, const double* a, const double* beta, double* nu);

}  // namespace fasthdmr
