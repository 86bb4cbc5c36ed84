// Ridge regression of every term on the spans inside its own subspace (spec 3): one small system a subspace.
#pragma once

#include <vector>

#include "spans/span_gram.hpp"
#include "spans/term_sums.hpp"

namespace fasthdmr {

// Covariances of some columns plus a ridge, factored: ridge / p on the coefficients of a span of p columns.
class RidgeSystem {
public:
    RidgeSystem(const SpanGram& gram, const Spanning& spanning, double ridge);
    // b: one right-hand side after the other.
    std::vector<double> solve(std::vector<double> b) const;

private:
    index n_;
    Buffer<double> factor_;
};

// By term, right-hand sides of its system, one after the other; null for a term that is left out.
struct RightSides {
    std::vector<const double*> of_term;
    index count;
};

// By term, the solutions: the coefficients of its projection where the right-hand sides are its products. Products of
// spans that `gram` lacks are summed up for some subspaces at a time, so that they stay within a fixed memory.
std::vector<std::vector<double>> solve_terms(const SpanGram& gram, const Table& x, const double* weight,
                                             const TermSums& sums, const RightSides& right, double ridge,
                                             int n_threads);

// The solutions of an output's terms added up: (all columns, outputs x count), column-major.
Buffer<double> add_up(const Spans& spans, const TermSums& sums, const std::vector<std::vector<double>>& coefficients,
                      index count);

}  // namespace fasthdmr
