#include "reference_lapack.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace fasthdmr {

namespace {

using Vector = std::vector<double>;

// Sums in higher precision: rounding that LAPACK's blocking avoids must not show up in the tests.
double dot(const double* x, const double* y, int n) {
    long double sum = 0.0L;
    for (int i = 0; i < n; ++i) sum += static_cast<long double>(x[i]) * y[i];
    return double(sum);
}

double norm(const double* x, int n) { return std::sqrt(dot(x, x, n)); }

// H = I - 2 v v' with v of length 1, or of length 0 where nothing is to be done: maps x to a multiple of the first axis.
Vector reflector(Vector x) {
    if (x.empty() || norm(x.data() + 1, int(x.size()) - 1) == 0.0) return Vector(x.size(), 0.0);
    x[0] += std::copysign(norm(x.data(), int(x.size())), x[0]);
    const double size = norm(x.data(), int(x.size()));
    for (double& value : x) value /= size;
    return x;
}

void reflect(const Vector& v, double* x) {
    const double product = dot(v.data(), x, int(v.size()));
    for (std::size_t i = 0; i < v.size(); ++i) x[i] -= 2.0 * product * v[i];
}

// R of the triangle A over the block B, whose last l rows are upper trapezoidal; what lies below is not looked at.
// The reflectors, B and T on exit in LAPACK, are of no use to the core.
void dtpqrt(int* m, int* n, int* l, int*, double* a, int* lda, double* b, int* ldb, double*, int*, double*, int* info) {
    for (int j = 0; j < *n; ++j) {
        const int height = *m - *l + std::min(*l, j + 1);
        const auto stacked = [&](int k) {
            Vector x{a[k * *lda + j]};
            x.insert(x.end(), b + k * *ldb, b + k * *ldb + height);
            return x;
        };
        const Vector v = reflector(stacked(j));
        for (int k = j; k < *n; ++k) {
            Vector x = stacked(k);
            reflect(v, x.data());
            a[k * *lda + j] = x[0];
            std::copy(x.begin() + 1, x.end(), b + k * *ldb);
        }
    }
    *info = 0;
}

// A P = Q R, R in place of A, P counted from 1; Q' is applied to the right-hand sides as well.
void pivoted_qr(int m, int n, double* a, int lda, int* pivots, double* b, int ldb, int nrhs) {
    for (int j = 0; j < n; ++j) pivots[j] = j + 1;
    for (int k = 0; k < std::min(m, n); ++k) {
        int largest = k;
        for (int j = k + 1; j < n; ++j)
            if (norm(a + j * lda + k, m - k) > norm(a + largest * lda + k, m - k)) largest = j;
        std::swap_ranges(a + k * lda, a + k * lda + m, a + largest * lda);
        std::swap(pivots[k], pivots[largest]);
        const Vector v = reflector(Vector(a + k * lda + k, a + k * lda + m));
        for (int j = k; j < n; ++j) reflect(v, a + j * lda + k);
        for (int c = 0; c < nrhs; ++c) reflect(v, b + c * ldb + k);
    }
}

void dgeqp3(int* m, int* n, double* a, int* lda, int* pivots, double*, double* work, int* lwork, int* info) {
    *info = 0;
    if (*lwork == -1) work[0] = 1.0;
    else pivoted_qr(*m, *n, a, *lda, pivots, nullptr, 0, 0);
}

// The least-norm z with R z = c for the first `rank` rows of R: by R' = Q L, z = Q (L')^-1 c.
class LeastNorm {
public:
    LeastNorm(const double* r, int ldr, int rank, int n) : n_(n) {
        for (int i = 0; i < rank; ++i) {
            Vector row(n);
            for (int j = i; j < n; ++j) row[j] = r[j * ldr + i];
            for (int k = 0; k < i; ++k) reflect(reflectors_[k], row.data() + k);
            reflectors_.push_back(reflector(Vector(row.begin() + i, row.end())));
            reflect(reflectors_[i], row.data() + i);
            columns_.push_back(row);
        }
    }

    Vector solve(const double* c) const {
        Vector z(n_);
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            z[i] = c[i];
            for (std::size_t k = 0; k < i; ++k) z[i] -= columns_[i][k] * z[k];
            z[i] /= columns_[i][i];
        }
        for (int i = int(columns_.size()) - 1; i >= 0; --i) reflect(reflectors_[i], z.data() + i);
        return z;
    }

private:
    int n_;
    std::vector<Vector> reflectors_, columns_;  // columns of L
};

void dgelsy(int* m, int* n, int* nrhs, double* a, int* lda, double* b, int* ldb, int* pivots, double* rcond, int* rank,
            double* work, int* lwork, int* info) {
    *info = 0;
    if (*lwork == -1) {
        work[0] = 1.0;
        return;
    }
    pivoted_qr(*m, *n, a, *lda, pivots, b, *ldb, *nrhs);
    *rank = 0;
    while (*rank < std::min(*m, *n) && std::abs(a[*rank * *lda + *rank]) > *rcond * std::abs(a[0])) ++*rank;
    const LeastNorm least_norm(a, *lda, *rank, *n);
    for (int c = 0; c < *nrhs; ++c) {
        const Vector z = least_norm.solve(b + c * *ldb);
        for (int j = 0; j < *n; ++j) b[c * *ldb + pivots[j] - 1] = z[j];
    }
}

// Lower triangle in place of A.
void dpotrf(char*, int* n, double* a, int* lda, int* info) {
    *info = 0;
    for (int j = 0; j < *n; ++j)
        for (int i = j; i < *n; ++i) {
            long double sum = a[j * *lda + i];
            for (int k = 0; k < j; ++k) sum -= static_cast<long double>(a[k * *lda + i]) * a[k * *lda + j];
            if (i == j && sum <= 0.0L) {
                *info = j + 1;
                return;
            }
            a[j * *lda + i] = double(i == j ? std::sqrt(sum) : sum / a[j * *lda + j]);
        }
}

void dpotrs(char*, int* n, int* nrhs, double* a, int* lda, double* b, int* ldb, int* info) {
    *info = 0;
    for (int c = 0; c < *nrhs; ++c) {
        double* x = b + c * *ldb;
        for (int i = 0; i < *n; ++i) {
            for (int k = 0; k < i; ++k) x[i] -= a[k * *lda + i] * x[k];
            x[i] /= a[i * *lda + i];
        }
        for (int i = *n - 1; i >= 0; --i) {
            for (int k = i + 1; k < *n; ++k) x[i] -= a[i * *lda + k] * x[k];
            x[i] /= a[i * *lda + i];
        }
    }
}

// Jacobi's rotations. Of A the lower triangle is given; eigenvectors replace it, one a column.
void dsyev(char* job, char*, int* n, double* a, int* lda, double* values, double* work, int* lwork, int* info) {
    *info = 0;
    if (*lwork == -1) {
        work[0] = 1.0;
        return;
    }
    const int size = *n;
    Vector m(size * size), v(size * size, 0.0);
    for (int j = 0; j < size; ++j) {
        v[j * size + j] = 1.0;
        for (int i = j; i < size; ++i) m[j * size + i] = m[i * size + j] = a[j * *lda + i];
    }
    for (int sweep = 0; sweep < 30; ++sweep)
        for (int p = 0; p < size; ++p)
            for (int q = p + 1; q < size; ++q) {
                const double off = m[q * size + p];
                if (std::abs(off) < 1e-300) continue;
                const double angle = 0.5 * std::atan2(2.0 * off, m[q * size + q] - m[p * size + p]);
                const double c = std::cos(angle), s = std::sin(angle);
                for (int k = 0; k < size; ++k) {
                    const double x = m[p * size + k], y = m[q * size + k];
                    m[p * size + k] = c * x - s * y;
                    m[q * size + k] = s * x + c * y;
                    const double f = v[p * size + k], g = v[q * size + k];
                    v[p * size + k] = c * f - s * g;
                    v[q * size + k] = s * f + c * g;
                }
                for (int k = 0; k < size; ++k) {
                    const double x = m[k * size + p], y = m[k * size + q];
                    m[k * size + p] = c * x - s * y;
                    m[k * size + q] = s * x + c * y;
                }
            }
    std::vector<int> order(size);
    for (int k = 0; k < size; ++k) order[k] = k;
    std::sort(order.begin(), order.end(), [&](int i, int j) { return m[i * size + i] < m[j * size + j]; });
    for (int k = 0; k < size; ++k) {
        values[k] = m[order[k] * size + order[k]];
        if (*job == 'V') std::copy_n(v.begin() + order[k] * size, size, a + k * *lda);
    }
}

}  // namespace

Lapack reference_lapack() { return {dtpqrt, dgelsy, dgeqp3, dpotrf, dpotrs, dsyev}; }

}  // namespace fasthdmr
