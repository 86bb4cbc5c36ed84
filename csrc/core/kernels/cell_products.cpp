// Sums over rows of products of left and right values. Rows are sorted by cell, that is by the place of their products
// in the array of sums, so that the sums over a cell stay in registers.
#include "kernels/compiler.hpp"
#include "kernels/declarations.hpp"

namespace fasthdmr::FASTHDMR_ISA {

namespace {

constexpr int kLanes = kSumLanes;
using Lanes = Vector<kLanes>;

constexpr int kRights = 4;  // right values at a time

// Adds the products of some vectors of left values, from the value `left` on, and of some right values, from `right`
// on.
template <int Vectors, int Rights>
inline void add_tile(const CellProducts& p, const RowCell& cell, int left, int right, double* sums) {
    const double* from[Rights];
    for (int m = 0; m < Rights; ++m) from[m] = p.right[right + m];
    Lanes total[Rights][Vectors] = {};
    for (std::int32_t e = cell.first; e < cell.last; ++e) {
        const double* values = p.left + e * index(p.width) + left;
        const index row = p.rows[e];
        Lanes factor[Vectors];
        FASTHDMR_UNROLL
        for (int v = 0; v < Vectors; ++v) factor[v] = Lanes::load(values + v * kLanes);
        FASTHDMR_UNROLL
        for (int m = 0; m < Rights; ++m) {
            const double value = from[m][row];
            FASTHDMR_UNROLL
            for (int v = 0; v < Vectors; ++v) total[m][v] = total[m][v] + value * factor[v];
        }
    }
    FASTHDMR_UNROLL
    for (int m = 0; m < Rights; ++m) {
        FASTHDMR_UNROLL
        for (int v = 0; v < Vectors; ++v) {
            const int at = left + v * kLanes;
            total[m][v].add_to(sums + cell.begin + (right + m) * p.stride + p.offsets[at / 4] + at % 4);
        }
    }
}

template <int Vectors>
inline void add_left(const CellProducts& p, const RowCell& cell, int left, double* sums) {
    int right = 0;
    for (; right + kRights <= p.rights; right += kRights) add_tile<Vectors, kRights>(p, cell, left, right, sums);
    if (p.rights - right == 3) add_tile<Vectors, 3>(p, cell, left, right, sums);
    if (p.rights - right == 2) add_tile<Vectors, 2>(p, cell, left, right, sums);
    if (p.rights - right == 1) add_tile<Vectors, 1>(p, cell, left, right, sums);
}

// First is the number of values of the first factor, 1 if there is none.
template <int First>
void multiply_rows(const double* first, const double* last, const double* scale, const std::uint16_t* rows, index n,
                   double* out) {
    for (index k = 0; k < n; ++k) {
        FASTHDMR_UNROLL
        for (int v = 0; v < 4; v += kLanes) {
            const Lanes scaled = scale[k] * Lanes::load(last + rows[k] * 4 + v);
            FASTHDMR_UNROLL
            for (int i = 0; i < First; ++i)
                (First > 1 ? first[rows[k] * 4 + i] * scaled : scaled).store(out + (k * First + i) * 4 + v);
        }
    }
}

}  // namespace

void multiply_outer(const double* first, const double* last, const double* scale, const std::uint16_t* rows, index n,
                    double* out) {
    if (first) return multiply_rows<4>(first, last, scale, rows, n, out);
    multiply_rows<1>(first, last, scale, rows, n, out);
}

void add_cell_products(const CellProducts& p, double* sums) {
    for (index c = 0; c < p.n_cells; ++c) {
        int left = 0;
        for (; left + 2 * kLanes <= p.width; left += 2 * kLanes) add_left<2>(p, p.cells[c], left, sums);
        if (left < p.width) add_left<1>(p, p.cells[c], left, sums);
    }
}

}  // namespace fasthdmr::FASTHDMR_ISA
