// Cells of one variable: intervals between breaks. Cells of two variables: products of these.
#pragma once

#include <utility>
#include <vector>

#include "support/arrays.hpp"

namespace fasthdmr {

// The cells of a column of X. The cell of missing values is the last one; if the variable is categorical, values outside
// [low, high) are missing.
struct CellAxis {
    index column;
    std::vector<double> breaks;
    bool is_categorical;
    double low, high;

    index count() const { return index(breaks.size()) + 2; }
};

// Writes the cell of each value of the column: the number of breaks that are at most the value. Breaks ascend.
void find_cells(const CellAxis& axis, const Table& x, index* cells);

// Which cells contain rows of positive weight: by pair of axes, (cells of the first, cells of the second), row-major.
std::vector<std::vector<char>> occupied_cells(const std::vector<CellAxis>& axes,
                                              const std::vector<std::pair<index, index>>& pairs, const Table& x,
                                              const double* weight, int n_threads);

}  // namespace fasthdmr
