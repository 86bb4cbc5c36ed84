// Sums over rows of products of splines and functions. Rows are sorted by cell, that is by the place of their products in
// the array of sums, so that the sums over a cell stay in registers.
#include "kernels/compiler.hpp"
#include "kernels/declarations.hpp"

namespace fasthdmr::FASTHDMR_ISA {

namespace {

constexpr int kLanes = kSumLanes, kParts = 4 / kLanes;
using Lanes = Vector<kLanes>;

// Functions at a time: the sums of each with 16 products of splines fill four registers or more.
#if defined(__AVX512F__)
constexpr int kFunctions = 4;
#else
constexpr int kFunctions = 2;
#endif

// Adds the products with some functions, from the number `begin` on. First is the number of splines of the first axis, 1
// if there is none.
template <int First, int Functions>
inline void add_tile(const CellProducts& p, const RowCell& cell, int begin, double* sums) {
    const double* values[Functions];
    for (int m = 0; m < Functions; ++m) values[m] = p.functions[begin + m];
    Lanes total[Functions][First][kParts] = {};
    for (std::int32_t e = cell.first; e < cell.last; ++e) {
        const index row = p.rows[e];
        FASTHDMR_UNROLL
        for (int m = 0; m < Functions; ++m) {
            const double factor = p.factor[row] * values[m][row];
            FASTHDMR_UNROLL
            for (int v = 0; v < kParts; ++v) {
                const Lanes scaled = factor * Lanes::load(p.last + row * 4 + v * kLanes);
                FASTHDMR_UNROLL
                for (int i = 0; i < First; ++i)
                    total[m][i][v] = total[m][i][v] + (First > 1 ? p.first[row * 4 + i] * scaled : scaled);
            }
        }
    }
    FASTHDMR_UNROLL
    for (int m = 0; m < Functions; ++m) {
        double* own = sums + cell.begin + (begin + m) * p.stride;
        FASTHDMR_UNROLL
        for (int i = 0; i < First; ++i)
            for (int v = 0; v < kParts; ++v) total[m][i][v].add_to(own + p.offsets[i] + v * kLanes);
    }
}

template <int First>
void add_cells(const CellProducts& p, double* sums) {
    for (index c = 0; c < p.n_cells; ++c) {
        int m = 0;
        for (; m + kFunctions <= p.n_functions; m += kFunctions) add_tile<First, kFunctions>(p, p.cells[c], m, sums);
        if (p.n_functions - m == 3) add_tile<First, 3>(p, p.cells[c], m, sums);
        if (p.n_functions - m == 2) add_tile<First, 2>(p, p.cells[c], m, sums);
        if (p.n_functions - m == 1) add_tile<First, 1>(p, p.cells[c], m, sums);
    }
}

}  // namespace

void add_cell_products(const CellProducts& p, double* sums) {
    if (p.n_cells == 0) return;
    // Rows are read in the order of cells, so that the processor does not know which come next.
    const index n = p.cells[p.n_cells - 1].last;
    prefetch(p.last, 4 * n * sizeof(double));
    if (p.first) prefetch(p.first, 4 * n * sizeof(double));
    for (int m = 0; m < p.n_functions; ++m) prefetch(p.functions[m], n * sizeof(double));
    if (p.first) return add_cells<4>(p, sums);
    add_cells<1>(p, sums);
}

}  // namespace fasthdmr::FASTHDMR_ISA
