// Least squares with an intercept on subsets of the columns, solved from the triangular factor R alone.
#pragma once

#include "support/arrays.hpp"

namespace fasthdmr {

// R is p x p, and its first column is that of the constant. So its first row holds the means, and the other rows hold
// the centred columns, which are scaled to unit norm here. Columns are numbered as in R: from 1, since 0 is the
// constant.
class LeastSquares {
public:
    LeastSquares(const double* r, index p, double tolerance);

    // Norm of a centred column; 0 if the column is constant up to rounding errors.
    double spread(index column) const { return spread_[column]; }

    // Least-squares coefficients of `count` right-hand sides on the given columns. A right-hand side has `rows`
    // numbers, for the rows of R from the second one on. The columns must have a spread and no nonzeros below these
    // rows. If they are collinear, the minimum-norm solution for the scaled columns is returned.
    std::vector<double> solve(const std::vector<index>& columns, index rows, const double* rhs, index count) const;

    // Numerical rank of all columns, the constant included.
    index rank() const;

private:
    const double* unit(index column) const { return unit_.data() + (column - 1) * n_; }
    void drop_rounding(const std::vector<double>& rounding);
    std::vector<double> by_substitution(index columns, index rows, const double* rhs, index count) const;
    std::vector<double> by_normal_equations(const Buffer<double>& factor, const std::vector<index>& columns, index rows,
                                            const double* rhs) const;
    std::vector<double> by_pivoted_qr(const std::vector<index>& columns, index rows, const double* rhs,
                                      index count) const;

    index n_;
    double tolerance_;
    std::vector<double> spread_;
    Buffer<double> unit_, gram_;  // columns of unit norm (n x n, upper), and their Gram matrix (n x n, lower)
    bool well_conditioned_;       // all columns, and hence every subset
};

// Least squares of a target, p numbers in the coordinates of R, on the constant and all columns. Returns the
// minimum-norm solution for the scaled columns, with 0 for columns without a spread.
std::vector<double> regression(const double* r, index p, const double* target, double tolerance);

}  // namespace fasthdmr
