// The top-down pass of spec 3, given the Gram matrix of the spans. Each component is projected on the spans of the
// proper subsets of its subspace. The projection is subtracted from it and added to the components of these subsets.
#pragma once

#include <vector>

#include "hierarchy/hierarchy.hpp"
#include "spans/local_projection.hpp"

namespace fasthdmr {

// One output before the pass: its coefficients on all columns, and for each span the term that the component contains
// without projection, or -1.
struct OutputStart {
    const double* coefficients;
    std::vector<index> kept;
};

// Returns one decomposition for each output. Its components are coefficients on the constant and the columns of spans.
// They do not include terms that a component contains without projection.
std::vector<Decomposition> span_top_down(const SpanGram& gram, const TermSums& sums,
                                         const std::vector<OutputStart>& starts, double ridge, int n_threads);

// The pairs of spans whose Gram blocks the pass needs: both spans are inside a common subspace.
SpanPairs pairs_inside(const Spans& spans);

// The pairs of spans whose Gram blocks the projections of terms and the pass need.
SpanPairs pairs_of_terms(const Spans& spans, const TermSums& sums);

// All pairs of spans.
SpanPairs all_pairs(const Spans& spans);

}  // namespace fasthdmr
