#include "linalg/column_elimination.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/kernels.hpp"
#include "linalg/cholesky.hpp"
#include "linalg/cholesky_qr.hpp"
#include "linalg/dot.hpp"
#include "linalg/lapack.hpp"
#include "linalg/short_calls.hpp"
#include "support/interruption.hpp"

namespace fasthdmr {

namespace {

// A column of unit norm is nearly dependent on those before it if the squared norm of its residual is below this. The
// ridge is added to the diagonal, so that the Cholesky factorisation of a singular matrix does not fail.
constexpr double kNearlyDependent = 1e-2, kRidge = 1e-8;
// Columns whose cosine with the constant column exceeds this have a large mean; they are centred first.
constexpr double kLargeMean = 0.3;
// A residual of a smaller relative norm may consist of rounding errors.
constexpr double kRounding = 64 * std::numeric_limits<double>::epsilon();
// Coefficients whose distance from zero is at most this many standard errors are dropped.
constexpr double kStandardErrors = 4.0;
// Applying one entry of a sparse T takes as long as this many multiplications of a matrix product.
constexpr index kAxpyCost = 16;
// All eliminations together may cost as much as the Gram matrix. The search for one counts as 1/kMostSteps of that.
constexpr index kMostSteps = 8;
constexpr index kChunk = 256;  // rows of a matrix product

// Whether each column is nearly dependent on those before it; nullopt if the factorisation fails.
std::optional<std::vector<bool>> nearly_dependent(Buffer<double> g, index n) {
    for (index j = 0; j < n; ++j) g[j * n + j] += kRidge;
    if (!cholesky(g.data(), n)) return {};
    std::vector<bool> dependent;
    for (index j = 0; j < n; ++j) dependent.push_back(g[j * n + j] * g[j * n + j] < kNearlyDependent);
    return dependent;
}

// Regression coefficients of targets on the sources that come before them, from the Gram matrix of unit-norm columns.
// With the Cholesky factor L of the sources' Gram matrix the coefficients are L'^-1 L^-1 g. To exclude sources that
// come after a target, their entries of L^-1 g are set to zero.
std::optional<Buffer<double>> coefficients(const Buffer<double>& g, index n, const std::vector<index>& sources,
                                           const std::vector<index>& targets) {
    int s = int(sources.size()), t = int(targets.size());
    Buffer<double> among(s * s), result(s * t);
    for (int j = 0; j < s; ++j)
        for (int i = j; i < s; ++i) among[j * s + i] = g[sources[j] * n + sources[i]];
    for (int j = 0; j < t; ++j)
        for (int i = 0; i < s; ++i) {
            const auto [first, last] = std::minmax(sources[i], targets[j]);
            result[j * s + i] = g[first * n + last];
        }
    if (!cholesky(among.data(), s)) return {};
    solve_triangle('L', 'N', among.data(), s, s, result.data(), t);
    for (int j = 0; j < t; ++j)
        for (int i = 0; i < s; ++i)
            if (sources[i] > targets[j]) result[j * s + i] = 0.0;
    solve_triangle('L', 'T', among.data(), s, s, result.data(), t);
    return result;
}

}  // namespace

std::optional<Elimination> Elimination::of(const Buffer<double>& x, index rows, index columns, Buffer<double> g) {
    std::vector<double> norms;
    if (!scale_to_unit(g, columns, norms)) return {};
    const auto dependent = nearly_dependent(g, columns);
    if (!dependent) return {};
    std::vector<index> sources;
    Elimination result;
    for (index j = 0; j < columns; ++j) ((*dependent)[j] ? result.targets_ : sources).push_back(j);
    if (result.targets_.empty()) {
        // No column is nearly dependent on the others, but columns with large means are nearly parallel to the
        // constant.
        sources = {0};
        for (index j = 1; j < columns; ++j)
            if (std::abs(g[j]) > kLargeMean) result.targets_.push_back(j);
    }
    if (result.targets_.empty() || sources.empty()) return {};
    const auto factors = coefficients(g, columns, sources, result.targets_);
    if (!factors) return {};

    const index s = index(sources.size()), t = index(result.targets_.size());
    result.columns_ = sources.back() + 1;
    result.factors_.assign(result.columns_ * t, 0.0);
    for (index j = 0; j < t; ++j)
        for (index i = 0; i < s; ++i)
            result.factors_[j * result.columns_ + sources[i]] =
                (*factors)[j * s + i] * norms[result.targets_[j]] / norms[sources[i]];
    const std::vector<double> residuals = result.residual_norms(x, rows, columns);
    for (index j = 0; j < t; ++j)
        if (!(residuals[j] > kRounding * norms[result.targets_[j]])) return {};
    result.drop_noise(norms, residuals, rows);
    return result;
}

// Estimated from a part of the rows.
std::vector<double> Elimination::residual_norms(const Buffer<double>& x, index rows, index columns) const {
    const index some = std::min(rows, kChunk);
    Buffer<double> part(columns * some);
    for (index j = 0; j < columns; ++j) std::copy_n(x.data() + j * rows, some, part.data() + j * some);
    apply(part.data(), some, some);
    std::vector<double> result;
    for (const index j : targets_) {
        const double* column = part.data() + j * some;
        result.push_back(std::sqrt(dot(column, column, some) * double(rows) / double(some)));
    }
    return result;
}

void Elimination::drop_noise(const std::vector<double>& norms, const std::vector<double>& residuals, index rows) {
    for (index j = 0; j < index(targets_.size()); ++j) {
        const double noise = kStandardErrors * residuals[j] / std::sqrt(double(rows));
        for (index i = 0; i < columns_; ++i) {
            double& factor = factors_[j * columns_ + i];
            if (std::abs(factor) * norms[i] <= noise) factor = 0.0;
            else sparse_.push_back({i, targets_[j], factor});
        }
    }
    if (sparse_.size() * kAxpyCost > factors_.size()) sparse_.clear();
}

index Elimination::cost() const { return is_sparse() ? kAxpyCost * index(sparse_.size()) : index(factors_.size()); }

void Elimination::add(double sign, double* block, index rows, index leading) const {
    if (is_sparse()) add_sparse(sign, block, rows, leading);
    else add_dense(sign, block, rows, leading);
}

void Elimination::add_sparse(double sign, double* block, index rows, index leading) const {
    for (const Entry& entry : sparse_)
        kernels().add_scaled(sign * entry.factor, block + entry.from * leading, rows, block + entry.to * leading);
}

void Elimination::add_dense(double sign, double* block, index rows, index leading) const {
    char no = 'N';
    int s = int(columns_), t = int(targets_.size()), ld = int(leading), chunk = int(kChunk);
    double one = 1.0;
    Buffer<double> to(kChunk * t);
    for (index begin = 0; begin < rows; begin += kChunk) {
        poll();
        int count = int(std::min(kChunk, rows - begin));
        for (int j = 0; j < t; ++j) std::copy_n(block + targets_[j] * leading + begin, count, to.data() + j * kChunk);
        lapack().dgemm(&no, &no, &count, &t, &s, &sign, block + begin, &ld, const_cast<double*>(factors_.data()), &s,
                       &one, to.data(), &chunk);
        for (int j = 0; j < t; ++j) std::copy_n(to.data() + j * kChunk, count, block + targets_[j] * leading + begin);
    }
}

std::optional<Eliminations> eliminations(Buffer<double>& x, index rows, index columns, double largest_inverse) {
    Eliminations steps;
    for (index cost = 0;;) {
        CholeskyQr qr(columns);
        qr.absorb(x.data(), rows, rows);
        if (qr.triangle(largest_inverse)) return steps;
        auto step = Elimination::of(x, rows, columns, qr.gram());
        if (!step) return {};
        cost += step->cost() + columns * columns / kMostSteps;
        if (cost > columns * columns) return {};
        step->apply(x.data(), rows, rows);
        steps.push_back(std::move(*step));
    }
}

}  // namespace fasthdmr
