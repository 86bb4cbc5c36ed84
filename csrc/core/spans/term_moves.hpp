// Derivatives of the projections of terms with respect to the weights of blocks of rows.
#pragma once

#include "spans/local_projection.hpp"

namespace fasthdmr {

// Some terms, given by their values at the rows, (rows, terms), column-major.
struct TermValues {
    std::vector<index> terms;  // their numbers in the sums
    const double* values;
};

// Increase the logarithms of the weights of the rows of a block. The derivative of the coefficients of a projection is
// the solution of its system for the inner products of residual and columns over the block, minus the block's share of
// those over all rows. Blocks have the same number of consecutive rows. The inner products with each column are
// multiplied by its `factor`.
//
// Returns the sums over the terms of each output, (all columns, outputs x blocks), column-major.
Buffer<double> term_moves(const SpanGram& gram, const Table& x, const double* weight, const TermSums& sums,
                          const TermValues& given, index n_blocks, const std::vector<double>& factor, double ridge,
                          int n_threads);

}  // namespace fasthdmr
