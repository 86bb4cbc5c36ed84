// Component functions as coefficients.
#pragma once

#include <vector>

#include "support/arrays.hpp"

namespace fasthdmr {

// Sparse columns of coefficients over (constant, dictionary columns): component functions.
struct Components {
    std::vector<index> begin{0};  // component c owns entries begin[c]:begin[c + 1]
    std::vector<index> column;    // 0 is the constant
    std::vector<double> weight;

    index count() const { return index(begin.size()) - 1; }
};

}  // namespace fasthdmr
