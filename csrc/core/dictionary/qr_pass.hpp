// The R factor of the weighted columns (1, B, y), for all rows or for each part of the data. Cholesky QR needs one pass
// over the rows. If the condition number is too large for it, Householder QR follows in a second pass.
#pragma once

#include <vector>

#include "dictionary/dictionary.hpp"
#include "linalg/triangle.hpp"

namespace fasthdmr {

struct Sample {
    index rows;
    const double* weight = nullptr;  // (rows,), or null: equal weights
    const double* y = nullptr;       // (rows,): an additional last column, or null: none
    double unit = 1.0;               // the columns of the dictionary are divided by it; a power of two
};

// R of all rows.
Triangle triangle(const Dictionary& dictionary, const Sample& sample, int n_threads);

// R of each part.
std::vector<Triangle> triangles(const Dictionary& dictionary, const Sample& sample, const std::vector<Rows>& parts,
                                int n_threads);

}  // namespace fasthdmr
