// Least squares from products: centred Gram matrices of well-scaled columns such as B-splines.
#pragma once

#include <vector>

#include "types.hpp"

namespace fasthdmr {

// Solves G x = b for a positive semi-definite G and b in its range, with least norm for columns scaled to unit norm:
// columns that say the same share equally.
//
// Small systems: by eigenvectors, those below kEmpty left out. Large ones: by a regularised Cholesky factor, repeated on
// what is left, which leaves empty directions at zero too and needs a tenth of the operations.
class Gram {
public:
    // n x n, symmetric, row-major; taken over. A ridge, added to the diagonal as it is, makes the solution a damped one:
    // columns that hold less of the measure than the ridge count for little.
    Gram(Buffer<double> g, index n, double ridge = 0.0, int n_threads = 1);
    std::vector<double> solve(const std::vector<double>& b) const;

private:
    std::vector<double> by_eigenvectors(const std::vector<double>& b) const;
    std::vector<double> by_cholesky(const std::vector<double>& b) const;

    bool small() const { return !damped_ && n_ <= kSmall; }

    static constexpr index kSmall = 128;
    index n_;
    bool damped_;
    Buffer<double> g_, factor_;
    std::vector<double> scale_, eigenvalues_;
};

// The number of eigenvalues of a symmetric matrix, scaled to a unit diagonal, above a tolerance.
index rank_of(Buffer<double> g, index n, double tolerance);

}  // namespace fasthdmr
