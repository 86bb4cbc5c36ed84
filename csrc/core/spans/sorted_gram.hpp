// Products of two spans, rows sorted by the cell of knots that they lie in: those of a cell touch the same columns, so
// their products add up in registers.
#pragma once

#include "spans/bsplines.hpp"

namespace fasthdmr {

// Whether rows can be sorted for a pair: cubic splines, and no more cells than the sorting is worth.
bool can_sort(const Spans& spans, const Span& a, const Span& b, index rows);

// Adds the weighted products at all rows of the block to g, (columns of a, columns of b), row-major.
void add_sorted_products(const Spans& spans, const SpanBlock& block, const Span& a, const Span& b, const double* weight,
                         double* g);

}  // namespace fasthdmr
