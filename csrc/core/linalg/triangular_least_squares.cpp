#include "linalg/triangular_least_squares.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/cholesky.hpp"
#include "linalg/dot.hpp"
#include "linalg/pivoted_qr.hpp"
#include "linalg/short_calls.hpp"
#include "support/interruption.hpp"

namespace fasthdmr {

namespace {

// If the norm of the inverse Gram matrix is at most this, the normal equations give nine digits, and one step of
// iterative refinement gives as many digits as a QR factorisation.
constexpr double kLargestInverse = 1e6;
// Rounding errors of a column relative to its norm before centring.
constexpr double kRounding = 16 * std::numeric_limits<double>::epsilon();

}  // namespace

LeastSquares::LeastSquares(const double* r, index p, double tolerance)
    : n_(p - 1), tolerance_(tolerance), spread_(p, 0.0), unit_(n_ * n_, 0.0), gram_(n_ * n_, 0.0) {
    std::vector<double> rounding(p, 0.0);
    for (index j = 1; j < p; ++j) {
        const double* column = r + j * p;
        const double centred = std::sqrt(dot(column + 1, column + 1, j));
        if (!(centred > tolerance * std::abs(column[0]))) continue;
        spread_[j] = centred;
        rounding[j] = kRounding * std::hypot(column[0], centred) / centred;
        for (index i = 0; i < j; ++i) unit_[(j - 1) * n_ + i] = column[i + 1] / centred;
    }
    if (*std::max_element(rounding.begin(), rounding.end()) > tolerance) drop_rounding(rounding);
    add_gram(unit_.data(), n_, n_, n_, gram_.data());
    Buffer<double> factor = gram_;
    well_conditioned_ = cholesky(factor.data(), n_) && inverse_norm(factor.data(), n_) <= kLargestInverse;
}

// If the residual of a column on those before it is within rounding errors, its direction is arbitrary. The column is
// then replaced by its projection on them. Residuals are computed by Gram-Schmidt orthogonalisation.
void LeastSquares::drop_rounding(const std::vector<double>& rounding) {
    std::vector<index> kept;
    Buffer<double> q(n_ * n_), r(n_ * n_);  // QR factorisation of the columns kept
    for (index j = 1; j <= n_; ++j) {
        if (spread_[j] == 0) continue;
        const index n = index(kept.size());
        double* column = unit_.data() + (j - 1) * n_;
        std::vector<double> left(column, column + j), multiples(n);
        for (index k = 0; k < n; ++k) {
            const double* direction = q.data() + k * n_;
            multiples[k] = r[n * n_ + k] = dot(direction, left.data(), kept[k]);
            for (index i = 0; i < kept[k]; ++i) left[i] -= multiples[k] * direction[i];
        }
        const double rest = std::sqrt(dot(left.data(), left.data(), j));
        double noise = rounding[j];
        for (index k = n - 1; k >= 0; --k) {  // the regression coefficients multiply the rounding errors of the columns
            multiples[k] /= r[k * n_ + k];
            for (index i = 0; i < k; ++i) multiples[i] -= multiples[k] * r[k * n_ + i];
            noise += std::abs(multiples[k]) * rounding[kept[k]];
        }
        if (rest <= noise) {
            for (index i = 0; i < j; ++i) column[i] -= left[i];
        } else {
            for (index i = 0; i < j; ++i) q[n * n_ + i] = left[i] / rest;
            r[n * n_ + n] = rest;
            kept.push_back(j);
        }
    }
}

std::vector<double> LeastSquares::solve(const std::vector<index>& columns, index rows, const double* rhs,
                                        index count) const {
    const index n = index(columns.size());
    if (well_conditioned_ && n > 0 && columns.back() == n) return by_substitution(n, rows, rhs, count);
    Buffer<double> g(n * n);
    for (index k = 0; k < n; ++k)
        for (index i = k; i < n; ++i) g[k * n + i] = gram_[(columns[k] - 1) * n_ + columns[i] - 1];
    if (!cholesky(g.data(), n) || !(well_conditioned_ || inverse_norm(g.data(), n) <= kLargestInverse))
        return by_pivoted_qr(columns, rows, rhs, count);
    std::vector<double> solutions;
    for (index c = 0; c < count; ++c) {
        poll();
        const std::vector<double> solution = by_normal_equations(g, columns, rows, rhs + c * rows);
        solutions.insert(solutions.end(), solution.begin(), solution.end());
    }
    return solutions;
}

// The leading columns of R form a triangle already, so no factorisation is needed.
std::vector<double> LeastSquares::by_substitution(index columns, index rows, const double* rhs, index count) const {
    std::vector<double> solutions(columns * count);
    for (index c = 0; c < count; ++c) std::copy_n(rhs + c * rows, columns, solutions.data() + c * columns);
    solve_triangle('U', 'N', unit_.data(), columns, n_, solutions.data(), count);
    for (std::size_t k = 0; k < solutions.size(); ++k) solutions[k] /= spread_[1 + k % columns];
    return solutions;
}

std::vector<double> LeastSquares::by_normal_equations(const Buffer<double>& factor, const std::vector<index>& columns,
                                                      index rows, const double* rhs) const {
    const index n = index(columns.size());
    std::vector<double> left(rhs, rhs + rows), step(n), solution(n, 0.0);
    for (int round = 0; round < 2; ++round) {
        for (index k = 0; k < n; ++k) step[k] = dot(unit(columns[k]), left.data(), columns[k]);
        solve_factored(factor.data(), n, step.data());
        for (index k = 0; k < n; ++k) {
            solution[k] += step[k];
            for (index i = 0; i < columns[k]; ++i) left[i] -= step[k] * unit(columns[k])[i];
        }
    }
    for (index k = 0; k < n; ++k) solution[k] /= spread_[columns[k]];
    return solution;
}

std::vector<double> LeastSquares::by_pivoted_qr(const std::vector<index>& columns, index rows, const double* rhs,
                                                index count) const {
    const index n = index(columns.size());
    Buffer<double> a(rows * n);
    for (index k = 0; k < n; ++k) std::copy_n(unit(columns[k]), rows, a.data() + k * rows);
    const PivotedQr qr(std::move(a), rows, n);
    std::vector<double> solutions = qr.solve(rhs, count, qr.rank(tolerance_));
    for (std::size_t k = 0; k < solutions.size(); ++k) solutions[k] /= spread_[columns[k % columns.size()]];
    return solutions;
}

index LeastSquares::rank() const {
    if (well_conditioned_) return n_ + 1;
    return 1 + PivotedQr(unit_, n_, n_).rank(tolerance_);
}

std::vector<double> regression(const double* r, index p, const double* target, double tolerance) {
    const LeastSquares problem(r, p, tolerance);
    std::vector<index> columns;
    for (index j = 1; j < p; ++j)
        if (problem.spread(j) > 0) columns.push_back(j);
    const std::vector<double> solution = problem.solve(columns, p - 1, target + 1, 1);
    std::vector<double> beta(p, 0.0);
    beta[0] = target[0];
    for (std::size_t k = 0; k < columns.size(); ++k) {
        beta[columns[k]] = solution[k];
        beta[0] -= solution[k] * r[columns[k] * p];
    }
    return beta;
}

}  // namespace fasthdmr
