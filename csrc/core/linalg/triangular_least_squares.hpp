// Centred least squares on chosen columns of a triangle.
#pragma once

#include "support/arrays.hpp"

namespace fasthdmr {

// The columns of R, p x p, without its first row (the means), scaled to unit norm. They are counted as those of R are:
// column 0, the constant, is none of them.
class LeastSquares {
public:
    LeastSquares(const double* r, index p, double tolerance);

    // Norm of a centred column, or 0 for one that is constant up to rounding: only its mean matters then.
    double spread(index column) const { return spread_[column]; }

    // Coefficients of the least squares of right-hand sides (count of them, each `rows` long, the rows of R after the
    // first) on columns of R with a spread, none of them longer. If columns are collinear,
    // the minimum-norm solution for the scaled columns is returned.
    std::vector<double> solve(const std::vector<index>& columns, index rows, const double* rhs, index count) const;

    // Numerical rank of all columns, the constant included.
    index rank() const;

private:
    const double* unit(index column) const { return unit_.data() + (column - 1) * n_; }
    void drop_rounding(const std::vector<double>& rounding);
    std::vector<double> by_substitution(index columns, index rows, const double* rhs, index count) const;
    std::vector<double> by_products(const Buffer<double>& factor, const std::vector<index>& columns, index rows,
                                    const double* rhs) const;
    std::vector<double> by_pivoted_qr(const std::vector<index>& columns, index rows, const double* rhs,
                                      index count) const;

    index n_;
    double tolerance_;
    std::vector<double> spread_;
    Buffer<double> unit_, products_;  // n x n, upper; n x n, lower
    bool well_conditioned_;           // all of them, and so any choice of them
};

// Least squares of a target, p numbers in the coordinates of R, on the constant and all columns: coefficients of least
// norm for the scaled columns, 0 for those without a spread.
std::vector<double> regression(const double* r, index p, const double* target, double tolerance);

}  // namespace fasthdmr
