// Evaluates component functions, given by their coefficients on the constant and the columns of spans.
#pragma once

#include "spans/bsplines.hpp"
#include "support/components.hpp"

namespace fasthdmr {

// Writes the values of all components, (rows, components), column-major.
void evaluate(const Spans& spans, const Table& x, const Components& components, double* out, int n_threads);

}  // namespace fasthdmr
