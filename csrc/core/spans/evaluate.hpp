// Component functions over (constant, span columns) at new rows.
#pragma once

#include "spans/bsplines.hpp"
#include "support/components.hpp"

namespace fasthdmr {

// (rows, components), column-major.
void evaluate(const Spans& spans, const Table& x, const Components& components, double* out, int n_threads);

}  // namespace fasthdmr
