// Ridge regression of each term on the spans of the subsets of its own subspace (spec 3): one small system of normal
// equations for each subspace.
#pragma once

#include <vector>

#include "spans/span_gram.hpp"
#include "spans/term_sums.hpp"

namespace fasthdmr {

// The Cholesky factor of the covariance matrix of some columns plus a diagonal ridge, ridge / p for the columns of a
// span of p columns.
class RidgeSystem {
public:
    RidgeSystem(const SpanGram& gram, const Spanning& spanning, double ridge);
    // b holds one or more right-hand sides, one after the other.
    std::vector<double> solve(std::vector<double> b) const;

private:
    index n_;
    Buffer<double> factor_;
};

// The right-hand sides of each term's system, one after the other; null for a term that is not projected.
struct RightSides {
    std::vector<const double*> of_term;
    index count;
};

// Returns the solutions for each term. Gram blocks that `gram` lacks are computed for a limited number of subspaces at a
// time, so that they fit into a fixed memory.
std::vector<std::vector<double>> solve_terms(const SpanGram& gram, const Table& x, const double* weight,
                                             const TermSums& sums, const RightSides& right, double ridge,
                                             int n_threads);

// Sums the solutions over the terms of each output: (all columns, outputs x count), column-major.
Buffer<double> add_up(const Spans& spans, const TermSums& sums, const std::vector<std::vector<double>>& coefficients,
                      index count);

}  // namespace fasthdmr
