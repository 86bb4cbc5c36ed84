#include "cholesky.hpp"

#include <cmath>
#include <limits>

#include "lapack.hpp"

namespace fasthdmr {

namespace {

// Squares below this may have lost digits to underflow.
constexpr double kLeastSquare = 1e-250;

}  // namespace

bool scale_to_unit(Buffer<double>& g, index n, std::vector<double>& norms) {
    for (index j = 0; j < n; ++j) {
        if (!(g[j * n + j] > kLeastSquare)) return false;
        norms.push_back(std::sqrt(g[j * n + j]));
    }
    for (index j = 0; j < n; ++j)
        for (index i = j; i < n; ++i) g[j * n + i] /= norms[i] * norms[j];
    return true;
}

bool cholesky(double* g, index n) {
    char lower = 'L';
    int size = int(n), info = 0;
    if (n > 0) lapack().dpotrf(&lower, &size, g, &size, &info);
    return info == 0;
}

double inverse_norm(const double* factor, index n) {
    if (n == 0) return 0.0;
    char lower = 'L';
    int size = int(n), info = 0;
    double one = 1.0, reciprocal = 0.0;
    std::vector<double> work(3 * n);
    std::vector<int> integers(n);
    lapack().dpocon(&lower, &size, const_cast<double*>(factor), &size, &one, &reciprocal, work.data(), integers.data(),
                    &info);
    return info == 0 && reciprocal > 0 ? 1.0 / reciprocal : std::numeric_limits<double>::infinity();
}

void solve_factored(const double* factor, index n, double* b) {
    char lower = 'L';
    int size = int(n), one = 1, info = 0;
    if (n > 0) lapack().dpotrs(&lower, &size, &one, const_cast<double*>(factor), &size, b, &size, &info);
}

}  // namespace fasthdmr
