// Cells of one variable: intervals between breaks.
#pragma once

#include <vector>

#include "support/arrays.hpp"

namespace fasthdmr {

// Writes the cell of each value of a column: the number of breaks that are at most the value. Missing values are in one
// cell more, breaks.size() + 1. Breaks ascend.
void find_cells(const std::vector<double>& breaks, const Table& x, index column, index* cells);

}  // namespace fasthdmr
