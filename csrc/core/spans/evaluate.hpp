// Evaluates component functions, given by their coefficients on the constant and the columns of spans.
#pragma once

#include "spans/nonzeros.hpp"
#include "support/components.hpp"

namespace fasthdmr {

// Writes the values of all components, (rows, components), column-major.
void evaluate(const Spans& spans, const Table& x, const Components& components, double* out, int n_threads);

// Adds the values of a function of one span at the rows first, ..., first + n - 1 of the block. If the span has more than
// two axes, its nonzeros at these rows are used.
void add_function(const Spans& spans, const SpanBlock& block, const Span& span, const Nonzeros& nonzeros,
                  const double* coefficients, index first, index n, double* out);

}  // namespace fasthdmr
