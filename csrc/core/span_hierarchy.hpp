// The top-down pass of spec 3 with spans that are not the targets, on moments alone.
#pragma once

#include <vector>

#include "hierarchy.hpp"
#include "span_moments.hpp"

namespace fasthdmr {

// What one output is made of: numbers of targets, -1 for none.
struct OutputPlan {
    std::vector<index> own;  // of each span: the terms that depend on exactly its variables
    index rest = -1;         // terms of higher order, projected jointly on all spans
    index whole = -1;        // the output itself
    bool smooth = true;      // keep of a component what its spans and those below hold | keep its own terms as they are
};

// Of what is projected on spans, columns that hold less than this share of the measure count for little: a handful of
// outlying rows must not make components that are huge there and cancel each other. Orthogonality is not touched by it.
constexpr double kRidge = 1e-6;

// Components over (constant, span columns). With `smooth` false, component s has its own target besides.
Decomposition span_top_down(const Spans& spans, const SpanMoments& moments, const OutputPlan& plan, int n_threads);

// Numerical rank of the constant and the spans of one variable, and the rank they would have with independent variables.
std::pair<index, index> additive_rank(const Spans& spans, const SpanMoments& moments, double tolerance);

}  // namespace fasthdmr
