// The top-down pass of spec 3 on the Gram matrix of spans: from each component its projection on the spans of proper
// subsets is subtracted, and added to their components.
#pragma once

#include <vector>

#include "hierarchy/hierarchy.hpp"
#include "spans/local_projection.hpp"

namespace fasthdmr {

// Of one output: its coefficients over all columns, and for each span the term that its component keeps as it is, or
// -1.
struct OutputStart {
    const double* coefficients;
    std::vector<index> kept;
};

// Components over (constant, span columns), one decomposition an output. A component that keeps a term has that
// besides.
std::vector<Decomposition> span_top_down(const SpanGram& gram, const TermSums& sums,
                                         const std::vector<OutputStart>& starts, double ridge, int n_threads);

// The pairs of spans whose products the pass needs: those inside a subspace.
SpanPairs pairs_inside(const Spans& spans);

}  // namespace fasthdmr
