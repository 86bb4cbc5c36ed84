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

// A column of unit norm is nearly dependent on those before it if its squared residual is below this. A ridge keeps the
// Cholesky factorisation from failing.
constexpr double kNearlyDependent = 1e-2, kRidge = 1e-8;
// Columns whose cosine with the constant column exceeds this have a large mean; they are centred first.
constexpr double kLargeMean = 0.3;
// A smaller relative residual may consist of rounding errors.
constexpr double kRounding = 64 * std::numeric_limits<double>::epsilon();
// Coefficients within so many standard errors of zero are dropped.
constexpr double kNoise = 4.0;
// Applying one entry of a sparse T takes as long as so many multiplications of a matrix product.
constexpr index kAxpyCost = 16;
// Steps may cost as much as the Gram matrix. Finding a step counts as its kMostSteps-th part.
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
        // No column is nearly dependent on others, but columns with large means share the direction of the constant.
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
    // Norms of the residuals are estimated from some of the rows.
    const index some = std::min(rows, kChunk);
    Buffer<double> rest(columns * some);
    for (index j = 0; j < columns; ++j) std::copy_n(x.data() + j * rows, some, rest.data() + j * some);
    result.apply(rest.data(), some, some);
    std::vector<double> left;
    for (const index j : result.targets_) {
        const double* column = rest.data() + j * some;
        left.push_back(std::sqrt(dot(column, column, some) * double(rows) / double(some)));
        if (!(left.back() > kRounding * norms[j])) return {};
    }
    result.drop_noise(norms, left, rows);
    return result;
}

void Elimination::drop_noise(const std::vector<double>& norms, const std::vector<double>& left, index rows) {
    for (index j = 0; j < index(targets_.size()); ++j) {
        const double noise = kNoise * left[j] / std::sqrt(double(rows));
        for (index i = 0; i < columns_; ++i) {
            double& factor = factors_[j * columns_ + i];
            if (std::abs(factor) * norms[i] <= noise) factor = 0.0;
            else few_.push_back({i, targets_[j], factor});
        }
    }
    if (few_.size() * kAxpyCost > factors_.size()) few_.clear();
}

index Elimination::cost() const { return few_.empty() ? index(factors_.size()) : kAxpyCost * index(few_.size()); }

void Elimination::add(double sign, double* block, index rows, index leading) const {
    if (few_.empty()) add_many(sign, block, rows, leading);
    else add_few(sign, block, rows, leading);
}

void Elimination::add_few(double sign, double* block, index rows, index leading) const {
    for (const Entry& entry : few_)
        kernels().add_scaled(sign * entry.factor, block + entry.from * leading, rows, block + entry.to * leading);
}

void Elimination::add_many(double sign, double* block, index rows, index leading) const {
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
        CholeskyQr products(columns);
        products.absorb(x.data(), rows, rows);
        if (products.triangle(largest_inverse)) return steps;
        auto step = Elimination::of(x, rows, columns, products.products());
        if (!step) return {};
        cost += step->cost() + columns * columns / kMostSteps;
        if (cost > columns * columns) return {};
        step->apply(x.data(), rows, rows);
        steps.push_back(std::move(*step));
    }
}

}  // namespace fasthdmr
