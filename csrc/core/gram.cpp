#include "gram.hpp"

#include <algorithm>
#include <cmath>

#include "cholesky.hpp"
#include "interruption.hpp"
#include "lapack.hpp"
#include "pivoted_qr.hpp"

namespace fasthdmr {

namespace {

// Eigenvalues, of a matrix with a unit diagonal, below this are empty directions.
constexpr double kEmpty = 1e-10;
// Regularisation of large systems. A step leaves kWeak / (kWeak + eigenvalue) of an error, and rounding puts eps / kWeak
// into empty directions: steps end when what is left is rounding or too weak to be solved.
constexpr double kWeak = 1e-6, kDone = 1e-14, kSlow = 0.8;
constexpr int kSteps = 40;
constexpr const char* kUnsolvable =
    "The columns of the spans are too large, too small or too unequal to be solved for. Bring the variables and the "
    "weights closer to one.";
constexpr index kMostEigenvalues = 1024;  // of one call: a tenth of a second

double largest(const std::vector<double>& v) {
    double result = 0.0;
    for (const double x : v) result = std::max(result, std::abs(x));
    return result;
}

// Scales to a unit diagonal; columns without variance become zero.
std::vector<double> scale_to_unit(Buffer<double>& g, index n) {
    double top = 0.0;
    for (index i = 0; i < n; ++i) top = std::max(top, g[i * n + i]);
    std::vector<double> scale(n);
    for (index i = 0; i < n; ++i) scale[i] = g[i * n + i] > 1e-14 * top ? 1.0 / std::sqrt(g[i * n + i]) : 0.0;
    for (index i = 0; i < n; ++i)
        for (index j = 0; j < n; ++j) g[i * n + j] *= scale[i] * scale[j];
    return scale;
}

// Eigenvalues, rising; with vectors, they replace g, one a row.
std::vector<double> eigen(Buffer<double>& g, index n, bool vectors) {
    std::vector<double> values(n);
    if (n == 0) return values;
    char job = vectors ? 'V' : 'N', lower = 'L';
    int size = int(n), info = 0, query = -1;
    double length = 0.0;
    lapack().dsyev(&job, &lower, &size, g.data(), &size, values.data(), &length, &query, &info);
    std::vector<double> work(std::max<index>(1, index(length)));
    int work_length = int(work.size());
    lapack().dsyev(&job, &lower, &size, g.data(), &size, values.data(), work.data(), &work_length, &info);
    if (info != 0) throw Error(kUnsolvable);
    return values;
}

}  // namespace

Gram::Gram(Buffer<double> g, index n, double ridge, int n_threads) : n_(n), damped_(ridge > 0), g_(std::move(g)) {
    for (index i = 0; i < n_; ++i) g_[i * n_ + i] += ridge;
    scale_ = scale_to_unit(g_, n_);
    factor_ = g_;
    if (small()) {
        eigenvalues_ = eigen(factor_, n_, true);
        return;
    }
    for (index i = 0; i < n_; ++i) factor_[i * n_ + i] += scale_[i] == 0 ? 1.0 : damped_ ? 0.0 : kWeak;
    if (!cholesky(factor_.data(), n_, n_threads)) throw Error(kUnsolvable);
}

std::vector<double> Gram::solve(const std::vector<double>& b) const {
    std::vector<double> x(n_);
    for (index i = 0; i < n_; ++i) x[i] = b[i] * scale_[i];
    x = small() ? by_eigenvectors(x) : by_cholesky(x);
    for (index i = 0; i < n_; ++i) x[i] *= scale_[i];
    return x;
}

std::vector<double> Gram::by_eigenvectors(const std::vector<double>& b) const {
    std::vector<double> x(n_, 0.0);
    for (index k = 0; k < n_; ++k) {
        if (eigenvalues_[k] <= kEmpty) continue;
        const double* vector = factor_.data() + k * n_;
        double part = 0.0;
        for (index i = 0; i < n_; ++i) part += vector[i] * b[i];
        for (index i = 0; i < n_; ++i) x[i] += part / eigenvalues_[k] * vector[i];
    }
    return x;
}

std::vector<double> Gram::by_cholesky(const std::vector<double>& b) const {
    std::vector<double> x(n_, 0.0), left = b;
    const double size = largest(left);
    double before = 2 * size / kSlow, now = size;
    for (int step = 0; step < kSteps && now > kDone * size && now < kSlow * before; ++step) {
        poll();
        std::vector<double> change = left;
        solve_factored(factor_.data(), n_, change.data());
        for (index i = 0; i < n_; ++i) x[i] += change[i];
        for (index i = 0; i < n_; ++i) {
            double sum = 0.0;
            for (index j = 0; j < n_; ++j) sum += g_[i * n_ + j] * x[j];
            left[i] = b[i] - sum;
        }
        before = now;
        now = largest(left);
    }
    return x;
}

index rank_of(Buffer<double> g, index n, double tolerance) {
    scale_to_unit(g, n);
    // A tridiagonalisation cannot be broken off; the pivots of a QR tell as much of a matrix that is not small.
    if (n > kMostEigenvalues) return PivotedQr(std::move(g), n, n).rank(tolerance);
    const std::vector<double> values = eigen(g, n, false);
    return std::count_if(values.begin(), values.end(), [&](double v) { return v > tolerance; });
}

}  // namespace fasthdmr
