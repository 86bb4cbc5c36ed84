// A pass over the rows -> triangles of (1, B, y), weighted, for one or several parts of the data. A second pass where the
// columns turn out to depend on each other more than a few of the rows said.
#pragma once

#include <vector>

#include "dictionary/dictionary.hpp"
#include "linalg/triangle.hpp"

namespace fasthdmr {

struct Sample {
    index rows;
    const double* weight = nullptr;  // (rows,) or none
    const double* y = nullptr;       // (rows,) or none: an additional last column
    double unit = 1.0;               // a power of two that the columns of the dictionary are divided by
};

// The triangle of all rows.
Triangle triangle(const Dictionary& dictionary, const Sample& sample, int n_threads);

// One triangle a part.
std::vector<Triangle> triangles(const Dictionary& dictionary, const Sample& sample, const std::vector<Rows>& parts,
                                int n_threads);

}  // namespace fasthdmr
