#include "linalg/cholesky.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/kernels.hpp"
#include "linalg/dot.hpp"
#include "linalg/lapack.hpp"
#include "support/parallel.hpp"

namespace fasthdmr {

namespace {

// Smaller squares may have lost digits by underflow.
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

namespace {

// Matrices of at least this many tiles in each direction are factored tile by tile, for any number of threads, so that
// results do not depend on that number.
constexpr index kLeastTiles = 4;

bool factored(double* g, index n, index leading) {
    char lower = 'L';
    int size = int(n), ld = int(leading), info = 0;
    if (n > 0) lapack().dpotrf(&lower, &size, g, &ld, &info);
    return info == 0;
}

// The panel of columns begin, ..., begin + width - 1 in a left-looking blocked factorisation. Both steps work on one
// tile of its rows: the update by all earlier panels, and the triangular solve with the panel's diagonal block.
struct Panel {
    double* g;
    index n, begin, width, tile_size;

    index below() const { return begin + width; }
    index tiles(index from) const { return (n - from + tile_size - 1) / tile_size; }
    void subtract_earlier(index tile) const {
        const index row = begin + tile * tile_size;
        char no = 'N', transposed = 'T';
        int rows = int(std::min(tile_size, n - row)), columns = int(width), earlier = int(begin), ld = int(n);
        double minus = -1.0, one = 1.0;
        lapack().dgemm(&no, &transposed, &rows, &columns, &earlier, &minus, g + row, &ld, g + begin, &ld, &one,
                       g + begin * n + row, &ld);
    }
    void solve(index tile) const {
        const index row = below() + tile * tile_size;
        char right = 'R', lower = 'L', transposed = 'T', no = 'N';
        int rows = int(std::min(tile_size, n - row)), columns = int(width), ld = int(n);
        double one = 1.0;
        lapack().dtrsm(&right, &lower, &transposed, &no, &rows, &columns, &one, g + begin * n + begin, &ld,
                       g + begin * n + row, &ld);
    }
};

}  // namespace

bool cholesky(double* g, index n, int n_threads, index tile_size) {
    if (n < kLeastTiles * tile_size) return factored(g, n, n);
    for (index begin = 0; begin < n; begin += tile_size) {
        const Panel panel{g, n, begin, std::min(tile_size, n - begin), tile_size};
        if (begin > 0) parallel_for(panel.tiles(begin), n_threads, [&](index k) { panel.subtract_earlier(k); });
        if (!factored(g + begin * n + begin, panel.width, n)) return false;
        parallel_for(panel.tiles(panel.below()), n_threads, [&](index k) { panel.solve(k); });
    }
    return true;
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

// Written out: for a single right-hand side, LAPACK's blocking costs more than it saves.
void solve_factored(const double* factor, index n, double* b) {
    for (index k = 0; k < n; ++k) {
        const double* column = factor + k * n;
        b[k] /= column[k];
        kernels().add_scaled(-b[k], column + k + 1, n - k - 1, b + k + 1);
    }
    for (index k = n - 1; k >= 0; --k) {
        const double* column = factor + k * n;
        b[k] = (b[k] - dot(column + k + 1, b + k + 1, n - k - 1)) / column[k];
    }
}

}  // namespace fasthdmr
