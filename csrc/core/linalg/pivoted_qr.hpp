// QR factorisation with column pivoting, and minimum-norm least squares for rank-deficient matrices.
#pragma once

#include <vector>

#include "support/arrays.hpp"

namespace fasthdmr {

// A P = Q R.
class PivotedQr {
public:
    PivotedQr(Buffer<double> a, index rows, index columns);  // column-major

    // Numerical rank: the number of leading diagonal elements of R that exceed `tolerance` times the first.
    index rank(double tolerance) const;
    // The minimum-norm solution of least squares, with A of the given rank. Right-hand sides are (rows, count),
    // solutions (columns, count).
    std::vector<double> solve(const double* rhs, index count, index rank) const;
    // Ridge regression of one right-hand side, for each of several penalties on the squared norm of the solution.
    std::vector<double> ridge(const double* rhs, const std::vector<double>& penalties, index rank) const;

private:
    void reflect(double* b) const;

    index rows_, columns_;
    Buffer<double> a_;  // R, and below it the Householder vectors
    std::vector<double> factors_;
    std::vector<int> pivots_;  // counted from 1
};

}  // namespace fasthdmr
