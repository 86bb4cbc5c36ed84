// The R factor of the weighted columns (1, B, y), of all rows or of each part of the data. Cholesky QR in one pass over
// the rows; if the condition number is too large, Householder QR in a second pass.
#pragma once

#include <vector>

#include "dictionary/dictionary.hpp"
#include "linalg/triangle.hpp"

namespace fasthdmr {

struct Sample {
    index rows;
    const double* weight = nullptr;  // (rows,) or none
    const double* y = nullptr;       // (rows,) or none: an additional last column
    double unit = 1.0;               // the columns of the dictionary are divided by it; a power of two
};

// The triangle of all rows.
Triangle triangle(const Dictionary& dictionary, const Sample& sample, int n_threads);

// One triangle a part.
std::vector<Triangle> triangles(const Dictionary& dictionary, const Sample& sample, const std::vector<Rows>& parts,
                                int n_threads);

}  // namespace fasthdmr
