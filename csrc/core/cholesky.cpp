#include "cholesky.hpp"

#include <limits>

#include "lapack.hpp"

namespace fasthdmr {

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
