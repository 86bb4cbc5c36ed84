// Component functions as linear combinations of the constant and the dictionary columns.
#pragma once

#include <vector>

#include "support/arrays.hpp"

namespace fasthdmr {

// The coefficients as a sparse matrix, stored by columns: one column per component function.
struct Components {
    std::vector<index> begin{0};  // component c owns entries begin[c]:begin[c + 1]
    std::vector<index> column;    // 0 is the constant
    std::vector<double> weight;

    index count() const { return index(begin.size()) - 1; }
};

}  // namespace fasthdmr
