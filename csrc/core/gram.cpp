#include "gram.hpp"

#include <algorithm>
#include <cmath>

#include "lapack.hpp"

namespace fasthdmr {

namespace {

// Regularisation relative to the unit diagonal; a step leaves kWeak / (kWeak + eigenvalue) of an error.
constexpr double kWeak = 1e-9;
constexpr int kSteps = 8;
constexpr double kDone = 1e-15;

double largest(const std::vector<double>& v) {
    double result = 0.0;
    for (const double x : v) result = std::max(result, std::abs(x));
    return result;
}

// Scales to a unit diagonal; columns without variance become zero.
std::vector<double> scale_to_unit(std::vector<double>& g, index n) {
    double top = 0.0;
    for (index i = 0; i < n; ++i) top = std::max(top, g[i * n + i]);
    std::vector<double> scale(n);
    for (index i = 0; i < n; ++i) scale[i] = g[i * n + i] > 1e-14 * top ? 1.0 / std::sqrt(g[i * n + i]) : 0.0;
    for (index i = 0; i < n; ++i)
        for (index j = 0; j < n; ++j) g[i * n + j] *= scale[i] * scale[j];
    return scale;
}

}  // namespace

Gram::Gram(std::vector<double> g, index n) : n_(n), g_(std::move(g)) {
    scale_ = scale_to_unit(g_, n_);
    factor_ = g_;
    for (index i = 0; i < n_; ++i) factor_[i * n_ + i] += scale_[i] > 0 ? kWeak : 1.0;
    char lower = 'L';
    int size = int(n_), info = 0;
    if (n_ > 0) lapack().dpotrf(&lower, &size, factor_.data(), &size, &info);
    if (info != 0) throw Error("dpotrf failed: " + std::to_string(info));
}

std::vector<double> Gram::solve(const std::vector<double>& b) const {
    std::vector<double> x(n_, 0.0), left(n_);
    for (index i = 0; i < n_; ++i) left[i] = b[i] * scale_[i];
    const double size = largest(left);
    char lower = 'L';
    int n = int(n_), one = 1, info = 0;
    for (int step = 0; step < kSteps && largest(left) > kDone * size; ++step) {
        std::vector<double> change = left;
        lapack().dpotrs(&lower, &n, &one, const_cast<double*>(factor_.data()), &n, change.data(), &n, &info);
        for (index i = 0; i < n_; ++i) x[i] += change[i];
        for (index i = 0; i < n_; ++i) {
            double sum = 0.0;
            for (index j = 0; j < n_; ++j) sum += g_[i * n_ + j] * x[j];
            left[i] = b[i] * scale_[i] - sum;
        }
    }
    for (index i = 0; i < n_; ++i) x[i] *= scale_[i];
    return x;
}

index rank_of(std::vector<double> g, index n, double tolerance) {
    scale_to_unit(g, n);
    char no_vectors = 'N', lower = 'L';
    int size = int(n), info = 0, query = -1;
    std::vector<double> values(n);
    double length = 0.0;
    if (n == 0) return 0;
    lapack().dsyev(&no_vectors, &lower, &size, g.data(), &size, values.data(), &length, &query, &info);
    std::vector<double> work(std::max<index>(1, index(length)));
    int work_length = int(work.size());
    lapack().dsyev(&no_vectors, &lower, &size, g.data(), &size, values.data(), work.data(), &work_length, &info);
    if (info != 0) throw Error("dsyev failed: " + std::to_string(info));
    return std::count_if(values.begin(), values.end(), [&](double v) { return v > tolerance; });
}

}  // namespace fasthdmr
