// QR with column pivoting, and minimum-norm least squares for rank-deficient columns.
#pragma once

#include <vector>

#include "support/arrays.hpp"

namespace fasthdmr {

// A P = Q R.
class PivotedQr {
public:
    PivotedQr(Buffer<double> a, index rows, index columns);  // column-major

    // Numerical rank: the number of columns before the first whose diagonal of R is at most `tolerance` of the largest.
    index rank(double tolerance) const;
    // Least squares of least norm by the first `rank` columns of Q: (columns, count) of right-hand sides (rows, count).
    std::vector<double> solve(const double* rhs, index count, index rank) const;
    // The same of one right-hand side with a penalty on the sum of squares of the solution, for each of several.
    std::vector<double> ridge(const double* rhs, const std::vector<double>& penalties, index rank) const;

private:
    void reflect(double* b) const;

    index rows_, columns_;
    Buffer<double> a_;  // R, and below it the reflectors
    std::vector<double> factors_;
    std::vector<int> pivots_;  // counted from 1
};

}  // namespace fasthdmr
