#include "reference_lapack.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "double_double.hpp"

namespace fasthdmr {

namespace {

using Vector = std::vector<double>;

// Sums are in higher precision, so that tests do not see rounding errors that LAPACK's blocking would avoid.
double dot(const double* x, const double* y, int n) {
    DoubleDouble sum;
    for (int i = 0; i < n; ++i) sum += DoubleDouble(x[i]) * y[i];
    return double(sum);
}

double norm(const double* x, int n) { return std::sqrt(dot(x, x, n)); }

// Householder reflection H = I - 2 v v' that maps x to a multiple of the first unit vector; v = 0 if x is one already.
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

// R of the triangle A on top of the block B, whose last l rows are upper trapezoidal; entries below are not read. The
// Householder vectors, which LAPACK returns in B and T, are not returned, because the core does not use them.
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

// One step of QR with column pivoting; LAPACK does up to nb of them. Rows before `offset` are factored already. The
// column of largest residual norm becomes the first, and its reflection is applied to all columns.
void dlaqps(int* m, int* n, int* offset, int*, int* kb, double* a, int* lda, int* pivots, double* tau, double*, double*,
            double*, double*, int*) {
    const int begin = *offset, height = *m - begin;
    int largest = 0;
    for (int j = 1; j < *n; ++j)
        if (norm(a + j * *lda + begin, height) > norm(a + largest * *lda + begin, height)) largest = j;
    if (largest > 0) {
        std::swap_ranges(a, a + *m, a + largest * *lda);
        std::swap(pivots[0], pivots[largest]);
    }
    const Vector v = reflector(Vector(a + begin, a + *m));
    for (int j = 0; j < *n; ++j) reflect(v, a + j * *lda + begin);
    // In LAPACK's form, H = I - tau w w' with w_1 = 1.
    tau[0] = 2.0 * v[0] * v[0];
    for (int i = 1; i < height; ++i) a[begin + i] = v[0] == 0.0 ? 0.0 : v[i] / v[0];
    *kb = 1;
}

void dpotrf(char*, int* n, double* a, int* lda, int* info) {
    *info = 0;
    for (int j = 0; j < *n; ++j)
        for (int i = j; i < *n; ++i) {
            DoubleDouble sum = a[j * *lda + i];
            for (int k = 0; k < j; ++k) sum -= DoubleDouble(a[k * *lda + i]) * a[k * *lda + j];
            if (i == j && !(sum > 0.0)) {
                *info = j + 1;
                return;
            }
            a[j * *lda + i] = double(i == j ? sqrt(sum) : sum / a[j * *lda + j]);
        }
}

// Replaces b by the solution x of L L' x = b.
void solve(int n, const double* a, int lda, double* x) {
    for (int i = 0; i < n; ++i) {
        DoubleDouble sum = x[i];
        for (int k = 0; k < i; ++k) sum -= DoubleDouble(a[k * lda + i]) * x[k];
        x[i] = double(sum / a[i * lda + i]);
    }
    for (int i = n - 1; i >= 0; --i) {
        DoubleDouble sum = x[i];
        for (int k = i + 1; k < n; ++k) sum -= DoubleDouble(a[i * lda + k]) * x[k];
        x[i] = double(sum / a[i * lda + i]);
    }
}

// Computes the inverse column by column; LAPACK estimates its norm.
void dpocon(char*, int* n, double* a, int* lda, double* anorm, double* rcond, double*, int*, int* info) {
    double largest = 0.0;
    for (int j = 0; j < *n; ++j) {
        Vector x(*n, 0.0);
        x[j] = 1.0;
        solve(*n, a, *lda, x.data());
        double sum = 0.0;
        for (const double value : x) sum += std::abs(value);
        largest = std::max(largest, sum);
    }
    *rcond = *n > 0 ? 1.0 / (*anorm * largest) : 1.0;
    *info = 0;
}

// C <- A'A + C, lower triangle.
void dsyrk(char*, char*, int* n, int* k, double*, double* a, int* lda, double*, double* c, int* ldc) {
    for (int j = 0; j < *n; ++j)
        for (int i = j; i < *n; ++i) c[j * *ldc + i] += dot(a + i * *lda, a + j * *lda, *k);
}

// C <- alpha op(A) op(B) + C, where op is the identity or the transpose.
void dgemm(char* transposed_a, char* transposed_b, int* m, int* n, int* k, double* alpha, double* a, int* lda,
           double* b, int* ldb, double*, double* c, int* ldc) {
    for (int j = 0; j < *n; ++j)
        for (int i = 0; i < *m; ++i) {
            DoubleDouble sum = c[j * *ldc + i];
            for (int l = 0; l < *k; ++l)
                sum += DoubleDouble(*alpha) * a[*transposed_a == 'N' ? l * *lda + i : i * *lda + l] *
                       b[*transposed_b == 'N' ? j * *ldb + l : l * *ldb + j];
            c[j * *ldc + i] = double(sum);
        }
}

// Replaces B by the solution X of A X = B or A' X = B with a lower or upper triangle A, or of X A' = B with a lower
// one.
void dtrsm(char* side, char* uplo, char* transposed, char*, int* m, int* n, double*, double* a, int* lda, double* b,
           int* ldb) {
    if (*side == 'R') {
        for (int j = 0; j < *n; ++j)
            for (int i = 0; i < *m; ++i) {
                DoubleDouble sum = b[j * *ldb + i];
                for (int k = 0; k < j; ++k) sum -= DoubleDouble(a[k * *lda + j]) * b[k * *ldb + i];
                b[j * *ldb + i] = double(sum / a[j * *lda + j]);
            }
        return;
    }
    const bool plain = *transposed == 'N', forward = plain == (*uplo == 'L');
    for (int j = 0; j < *n; ++j) {
        double* x = b + j * *ldb;
        for (int step = 0; step < *m; ++step) {
            const int i = forward ? step : *m - 1 - step;
            DoubleDouble sum = x[i];
            for (int k = forward ? 0 : i + 1; k < (forward ? i : *m); ++k)
                sum -= DoubleDouble(plain ? a[k * *lda + i] : a[i * *lda + k]) * x[k];
            x[i] = double(sum / a[i * *lda + i]);
        }
    }
}

// (x, y) <- (c x - s y, s x + c y), element by element.
void rotate(double* x, double* y, int n, int step, double c, double s) {
    for (int k = 0; k < n; ++k) {
        const double at_x = x[k * step], at_y = y[k * step];
        x[k * step] = c * at_x - s * at_y;
        y[k * step] = s * at_x + c * at_y;
    }
}

// Jacobi's method: rotations of two coordinates, until the off-diagonal entries of A are rounding errors. V, stored as
// A is, accumulates the rotations. Returns whether it converged.
bool diagonalise(Vector& a, Vector& v, int n) {
    constexpr int sweeps = 50;
    const double negligible = 1e-17 * norm(a.data(), n * n);
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        bool done = true;
        for (int p = 0; p < n; ++p)
            for (int q = p + 1; q < n; ++q) {
                if (!(std::abs(a[q * n + p]) > negligible)) continue;
                done = false;
                const double theta = (a[q * n + q] - a[p * n + p]) / (2.0 * a[q * n + p]);
                const double t = std::copysign(1.0, theta) / (std::abs(theta) + std::sqrt(theta * theta + 1.0));
                const double c = 1.0 / std::sqrt(t * t + 1.0), s = t * c;
                rotate(&a[p * n], &a[q * n], n, 1, c, s);
                rotate(&a[p], &a[q], n, n, c, s);
                a[q * n + p] = a[p * n + q] = 0.0;
                rotate(&v[p * n], &v[q * n], n, 1, c, s);
            }
        if (done) return true;
    }
    return false;
}

void dsyev(char* jobz, char*, int* n_, double* a, int* lda, double* w, double* work, int* lwork, int* info) {
    *info = 0;
    if (*lwork == -1) {
        work[0] = 1.0;
        return;
    }
    const int n = *n_;
    Vector full(n * n), v(n * n, 0.0);
    for (int j = 0; j < n; ++j) {
        v[j * n + j] = 1.0;
        for (int i = j; i < n; ++i) full[j * n + i] = full[i * n + j] = a[j * *lda + i];
    }
    if (!diagonalise(full, v, n)) *info = 1;
    std::vector<int> order(n);
    for (int k = 0; k < n; ++k) order[k] = k;
    std::sort(order.begin(), order.end(), [&](int i, int j) { return full[i * n + i] < full[j * n + j]; });
    for (int k = 0; k < n; ++k) {
        w[k] = full[order[k] * n + order[k]];
        if (*jobz == 'V') std::copy_n(v.begin() + order[k] * n, n, a + k * *lda);
    }
}

}  // namespace

Lapack reference_lapack() { return {dtpqrt, dlaqps, dpotrf, dpocon, dsyev, dsyrk, dgemm, dtrsm}; }

}  // namespace fasthdmr
