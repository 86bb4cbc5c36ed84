#include "linalg/short_calls.hpp"

#include <algorithm>

#include "linalg/lapack.hpp"
#include "support/interruption.hpp"

namespace fasthdmr {

namespace {

constexpr index kTile = 512;

void add_tile(double* a, double* b, index rows, index height, index width, index leading, double* g, index columns) {
    char transposed = 'T', no = 'N';
    int m = int(height), n = int(width), k = int(rows), ld = int(leading), ldg = int(columns);
    double one = 1.0;
    lapack().dgemm(&transposed, &no, &m, &n, &k, &one, a, &ld, b, &ld, &one, g, &ldg);
}

void add_diagonal_tile(double* a, index rows, index width, index leading, double* g, index columns) {
    char lower = 'L', transposed = 'T';
    int n = int(width), k = int(rows), ld = int(leading), ldg = int(columns);
    double one = 1.0;
    lapack().dsyrk(&lower, &transposed, &n, &k, &one, a, &ld, &one, g, &ldg);
}

}  // namespace

void add_gram(const double* given, index rows, index columns, index leading, double* g) {
    if (rows == 0 || columns == 0) return;
    double* a = const_cast<double*>(given);
    const bool is_short = rows * columns * columns / 2 <= kMostMultiplications;
    const index tile = is_short ? columns : kTile;
    for (index j = 0; j < columns; j += tile) {
        const index width = std::min(tile, columns - j);
        poll();
        add_diagonal_tile(a + j * leading, rows, width, leading, g + j * columns + j, columns);
        for (index i = j + width; i < columns; i += tile) {
            poll();
            add_tile(a + i * leading, a + j * leading, rows, std::min(tile, columns - i), width, leading,
                     g + j * columns + i, columns);
        }
    }
}

void solve_triangle(char uplo, char transposed, const double* triangle, index n, index leading, double* b,
                    index count) {
    char left = 'L', no = 'N';
    int size = int(n), ld = int(leading);
    double one = 1.0;
    const index most = std::max<index>(1, kMostMultiplications / std::max<index>(1, n * n));
    for (index first = 0; first < count; first += most) {
        int some = int(std::min(most, count - first));
        poll();
        lapack().dtrsm(&left, &uplo, &transposed, &no, &size, &some, &one, const_cast<double*>(triangle), &ld,
                       b + first * n, &size);
    }
}

}  // namespace fasthdmr
