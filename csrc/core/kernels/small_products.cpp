// Products of small matrices. BLAS would add in another order on each processor.
#include "kernels/compiler.hpp"
#include "kernels/declarations.hpp"

namespace fasthdmr::FASTHDMR_ISA {

namespace {

constexpr int kLanes = kSumLanes;
using Lanes = Vector<kLanes>;

bool is_zero(const double* values) {
    for (int v = 0; v < kLanes; ++v)
        if (values[v] != 0.0) return false;
    return true;
}

template <int Rows>
inline void add_tile(const double* a, index n, const double* b, index columns, index first, index last, double* out) {
    Lanes total[Rows] = {};
    for (index r = first; r < last; ++r) {
        const Lanes row = Lanes::load(b + r * columns);
        FASTHDMR_UNROLL
        for (int i = 0; i < Rows; ++i) total[i] = total[i] + a[r * n + i] * row;
    }
    for (int i = 0; i < Rows; ++i) total[i].store(out + i * columns);
}

}  // namespace

void multiply_transposed(const double* a, index rows, index n, const double* b, index columns, double* out) {
    constexpr int kTile = 4;
    for (index j = 0; j < columns; j += kLanes) {
        const index column = j + kLanes < columns ? j : columns - kLanes;
        index first = 0, last = rows;
        while (first < last && is_zero(b + first * columns + column)) ++first;
        while (first < last && is_zero(b + (last - 1) * columns + column)) --last;
        index i = 0;
        for (; i + kTile <= n; i += kTile)
            add_tile<kTile>(a + i, n, b + column, columns, first, last, out + i * columns + column);
        for (; i < n; ++i) add_tile<1>(a + i, n, b + column, columns, first, last, out + i * columns + column);
    }
}

}  // namespace fasthdmr::FASTHDMR_ISA
