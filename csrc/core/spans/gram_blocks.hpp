// The blocks of the Gram matrix: weighted sums over rows of the products of the columns of two spans. Products of cubic
// splines of few variables follow from sums of others, which are fewer (tensor_sums.hpp, cell_sums.hpp).
#pragma once

#include <vector>

#include "spans/bsplines.hpp"

namespace fasthdmr {

// By pair, (columns of the first, columns of the second), row-major.
std::vector<std::vector<double>> gram_blocks(const Spans& spans, const Table& x, const double* weight,
                                             const SpanPairs& pairs, int n_threads);

// The number of blocks of rows in a panel. The splines of the axes at the rows of a panel, and `more` bytes per row, fit
// into a memory of fixed size.
index blocks_in_panel(index n_axes, index n_blocks, index more = 0);

}  // namespace fasthdmr
