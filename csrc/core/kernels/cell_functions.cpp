// Weighted sums over rows of products of functions of three variables. Rows are sorted by cell, as in
// cell_products.cpp. Four rows are summed at a time, and these four sums are added last, so that the bits do not depend
// on the number of rows that fit into a register.
#include "kernels/compiler.hpp"
#include "kernels/declarations.hpp"

namespace fasthdmr::FASTHDMR_ISA {

namespace {

constexpr int kLanes = kSumLanes;
using Lanes = Vector<kLanes>;

constexpr int kRows = 4, kParts = kRows / kLanes;

// Products of two functions at a time: the sums of each with four cubics fill four registers or more.
#if defined(__AVX512F__)
constexpr int kOthers = kTileOthers;
#else
constexpr int kOthers = kTileOthers / 2;
#endif

constexpr index kChunk = 64;  // rows whose functions are evaluated at a time: they stay in the first-level cache

// The functions of each variable at the rows of a chunk. Those of the first variable are multiplied by the weight.
struct Chunk {
    double values[kCellVariables][kMostFunctions][kChunk];
};

inline index whole_groups(index rows) { return (rows + kRows - 1) / kRows * kRows; }

void evaluate(const CellInterval& interval, index rows, const double* FASTHDMR_RESTRICT t,
              const double* FASTHDMR_RESTRICT factor, double (*FASTHDMR_RESTRICT out)[kChunk]) {
    for (index e = 0; e < rows; ++e) {
        const double u = 1.0 - t[e], tt = t[e] * t[e], uu = u * u;
        const double ft = factor[e] * t[e], fu = factor[e] * u, both = ft * u;
        out[0][e] = fu * uu;
        out[1][e] = 3.0 * (ft * uu);
        out[2][e] = 3.0 * (fu * tt);
        out[3][e] = ft * tt;
        out[4][e] = 6.0 * (both * (uu * uu));
        out[5][e] = 20.0 * (both * (uu * tt));
        out[6][e] = 6.0 * (both * (tt * tt));
    }
    for (int k = 0; k < interval.n_truncated; ++k) {
        const TruncatedCubic& cubic = interval.truncated[k];
        for (index e = 0; e < rows; ++e) {
            const double v = cubic.scale * (t[e] - cubic.knot), positive = v > 0.0 ? v : 0.0;
            out[kPolynomials + k][e] = factor[e] * positive * (positive * positive);
        }
    }
    for (int k = kPolynomials + interval.n_truncated; k < interval.functions; ++k)
        for (index e = 0; e < rows; ++e) out[k][e] = 0.0;
    if (!interval.is_missing) return;
    for (int k = 0; k < kPolynomials; ++k)
        for (index e = 0; e < rows; ++e) out[k][e] = k == 0 ? factor[e] : 0.0;
}

// Evaluates the functions at n rows. In rows that fill up the last group, they are 0.
void fill(const CellFunctions& f, const FunctionCell& cell, const std::uint16_t* rows, index n, Chunk& chunk) {
    const index padded = whole_groups(n);
    double t[kCellVariables][kChunk], weight[kChunk], one[kChunk];
    for (index e = 0; e < n; ++e) {
        for (int k = 0; k < kCellVariables; ++k) t[k][e] = f.coordinates[k][rows[e]];
        weight[e] = f.weight[rows[e]];
    }
    for (index e = n; e < padded; ++e) t[0][e] = t[1][e] = t[2][e] = weight[e] = 0.0;
    for (index e = 0; e < padded; ++e) one[e] = 1.0;
    for (int k = 0; k < kCellVariables; ++k)
        evaluate(cell.intervals[k], padded, t[k], k == 0 ? weight : one, chunk.values[k]);
}

// Adds the products of a tile, with some of its products of two functions, from the number `begin` on.
template <int Others>
inline void add_products(const ProductTile& tile, int begin, const Chunk& chunk, index n, double* sums) {
    const auto& own = chunk.values[tile.variable];
    const auto &second = chunk.values[tile.variable == 0 ? 1 : 0], &third = chunk.values[tile.variable == 2 ? 1 : 2];
    const double *seconds[Others], *thirds[Others];
    for (int q = 0; q < Others; ++q) {
        seconds[q] = second[tile.function[begin + q][0]];
        thirds[q] = third[tile.function[begin + q][1]];
    }
    Lanes total[Others][kCubics][kParts] = {};
    for (index e = 0; e < n; e += kRows) {
        FASTHDMR_UNROLL
        for (int v = 0; v < kParts; ++v) {
            const index at = e + v * kLanes;
            Lanes values[kCubics];
            FASTHDMR_UNROLL
            for (int i = 0; i < kCubics; ++i) {
                values[i] = Lanes::load(&own[i][at]);
                FASTHDMR_KEEP(values[i].lanes);
            }
            FASTHDMR_UNROLL
            for (int q = 0; q < Others; ++q) {
                const Lanes other = Lanes::load(seconds[q] + at) * Lanes::load(thirds[q] + at);
                FASTHDMR_UNROLL
                for (int i = 0; i < kCubics; ++i) total[q][i][v] = total[q][i][v] + other * values[i];
            }
        }
    }
    FASTHDMR_UNROLL
    for (int q = 0; q < Others; ++q) add_sums_over_lanes(total[q], sums + (begin + q) * kCubics);
}

}  // namespace

void add_cell_functions(const CellFunctions& f, double* sums) {
    Chunk chunk;
    for (index c = 0; c < f.n_cells; ++c) {
        const FunctionCell& cell = f.cells[c];
        for (index begin = cell.first; begin < cell.last; begin += kChunk) {
            const index n = cell.last - begin < kChunk ? cell.last - begin : kChunk;
            fill(f, cell, f.rows + begin, n, chunk);
            for (index k = 0; k < f.n_tiles; ++k)
                for (int q = 0; q < kTileOthers; q += kOthers)
                    add_products<kOthers>(f.tiles[k], q, chunk, whole_groups(n), sums + cell.begin + k * kTileProducts);
        }
    }
}

}  // namespace fasthdmr::FASTHDMR_ISA
