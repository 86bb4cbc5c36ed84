// Covariance matrices of the columns of spans, formed from the rows one system at a time by matrix products. For systems
// whose columns are mostly nonzero and that have few pairs of spans in common, such as those on the coarse spans of the
// terms of deep trees, this is several times faster than sums for pairs of spans, and needs no memory for these.
#pragma once

#include <functional>

#include "spans/span_gram.hpp"

namespace fasthdmr {

// Chooses such systems among those for which blocks are missing in `gram`. Returns a flag for each.
std::vector<char> dense_systems(const SpanGram& gram, const std::vector<const Spanning*>& systems);

// Calls use(k, covariance) for each system, on several threads. Matrices are column-major, and only their lower triangle
// is defined. `gram` has the spans and the means of their columns.
void form_systems(const SpanGram& gram, const Table& x, const double* weight,
                  const std::vector<const Spanning*>& systems, int n_threads,
                  const std::function<void(index, Buffer<double>)>& use);

}  // namespace fasthdmr
