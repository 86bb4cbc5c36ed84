// Ridge regression of each term on the spans of the subsets of its own subspace (spec 3): one small system of normal
// equations for each subspace.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "spans/level_elimination.hpp"
#include "spans/span_gram.hpp"
#include "spans/term_sums.hpp"

namespace fasthdmr {

// A factorisation of the covariance matrix of the columns of some spans plus a diagonal. The diagonal is ridge / p
// for the columns of a span of p columns.
class RidgeSystem {
public:
    RidgeSystem(const SpanGram& gram, const Spanning& spanning, double ridge);
    // With the covariance matrix, of which the lower triangle is read.
    RidgeSystem(const SpanGram& gram, const Spanning& spanning, double ridge, Buffer<double> covariance);
    // b holds one or more right-hand sides, one after the other.
    std::vector<double> solve(std::vector<double> b) const;
    index size() const { return n_; }

private:
    void factor(const SpanGram& gram, const Spanning& spanning, double ridge, Buffer<double> covariance);

    index n_;
    Buffer<double> factor_;
    std::optional<LevelElimination> levels_;  // then factor_ is empty
};

// Calls use(system, t) on several threads for each term t that is projected, unless kept[t]. Terms of the same spans share
// a system. Gram blocks that are not in `gram` are computed for a limited number of subspaces at a time, so that the
// memory is bounded.
void for_systems(const SpanGram& gram, const Table& x, const double* weight, const TermSums& sums,
                 const std::vector<char>& kept, double ridge, int n_threads,
                 const std::function<void(const RidgeSystem&, index)>& use);

// The coefficients of the projection of each term. Those of other terms are empty.
std::vector<std::vector<double>> solve_terms(const SpanGram& gram, const Table& x, const double* weight,
                                             const TermSums& sums, const std::vector<char>& kept, double ridge,
                                             int n_threads);

// Sums the solutions over the terms of each output: (all columns, outputs x count), column-major.
Buffer<double> add_up(const Spans& spans, const TermSums& sums, const std::vector<std::vector<double>>& coefficients,
                      index count);

}  // namespace fasthdmr
