// Exact interventional partial dependence of a forest: the mean of its output over all rows, with a few variables
// replaced by the values of a grid.
#pragma once

#include <vector>

#include "forest/forest.hpp"

namespace fasthdmr {

// A variable and the increasing values of a grid along it.
struct GridAxis {
    std::int32_t variable;
    std::vector<double> values;
};

// The time grows as 2^axes: a leaf has a weight for every subset of the variables of a grid, and a box has as many
// corners.
constexpr std::size_t kMostGridAxes = 4;

// Memory for the path weights of a batch of trees. A single tree may need more.
constexpr index kBatchBytes = index(1) << 25;

// Each grid is the product of some axes, given by their numbers, of different variables. Its result is in C order: by
// output, then by the values of its axes. If `weight` is null, rows have equal weights.
std::vector<std::vector<double>> partial_dependence(const Forest& forest, const Table& x, const double* weight,
                                                    const std::vector<GridAxis>& axes,
                                                    const std::vector<std::vector<index>>& grids, int n_threads,
                                                    index batch_bytes = kBatchBytes);

}  // namespace fasthdmr
