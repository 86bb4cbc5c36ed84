// The top-down pass of spec 3, given the Gram matrix of the spans: the projection of each component on the spans of the
// proper subsets of its subspace is subtracted from it and added to their components.
#pragma once

#include <vector>

#include "hierarchy/hierarchy.hpp"
#include "spans/local_projection.hpp"

namespace fasthdmr {

// One output before the pass: its coefficients on all columns, and for each span the term that its component contains
// unprojected, or -1.
struct OutputStart {
    const double* coefficients;
    std::vector<index> kept;
};

// Returns one decomposition for each output, whose components are coefficients on the constant and the columns of spans.
// A term that a component contains unprojected is not part of these.
std::vector<Decomposition> span_top_down(const SpanGram& gram, const TermSums& sums,
                                         const std::vector<OutputStart>& starts, double ridge, int n_threads);

// The pairs of spans whose Gram blocks the pass needs: those of subsets of a common subspace.
SpanPairs pairs_inside(const Spans& spans);

}  // namespace fasthdmr
