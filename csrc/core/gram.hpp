// Least squares from products: centred Gram matrices of well-scaled columns such as B-splines.
#pragma once

#include <vector>

#include "types.hpp"

namespace fasthdmr {

// Solves G x = b for a positive semi-definite G and b in its range, with least norm for columns scaled to unit norm:
// columns that say the same share equally. Regularised Cholesky, repeated on what is left, so that directions with
// more than kWeak of a column's norm are solved to rounding and empty ones stay zero.
class Gram {
public:
    // n x n, symmetric, row-major; taken over.
    explicit Gram(std::vector<double> g, index n);
    std::vector<double> solve(const std::vector<double>& b) const;

private:
    index n_;
    std::vector<double> g_, factor_, scale_;
};

// The number of eigenvalues of a symmetric matrix, scaled to a unit diagonal, above a tolerance.
index rank_of(std::vector<double> g, index n, double tolerance);

}  // namespace fasthdmr
