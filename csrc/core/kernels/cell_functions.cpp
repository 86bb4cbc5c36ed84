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
constexpr index kChunk = 64;  // rows whose functions are evaluated at a time: they stay in the first-level cache

// The functions of each variable at the rows of a chunk. Those of the first variable are multiplied by the weight.
struct Chunk {
    double values[kCellVariables][kMostFunctions][kChunk];
};

// At n rows, a multiple of four.
void evaluate(const CellInterval& interval, index n, const double* t, const double* factor, double (*out)[kChunk]) {
    for (index e = 0; e < n; ++e) {
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
        for (index e = 0; e < n; ++e) {
            const double v = cubic.scale * (t[e] - cubic.knot), positive = v > 0.0 ? v : 0.0;
            out[kPolynomials + k][e] = factor[e] * positive * (positive * positive);
        }
    }
    for (int k = kPolynomials + interval.n_truncated; k < interval.functions; ++k)
        for (index e = 0; e < n; ++e) out[k][e] = 0.0 * factor[e];
    if (!interval.is_missing) return;
    for (int k = 0; k < kPolynomials; ++k)
        for (index e = 0; e < n; ++e) out[k][e] = k == 0 ? factor[e] : 0.0;
}

// Evaluates the functions at n rows. Returns the number with padding: rows with factors of 0.
index fill(const CellFunctions& f, const FunctionCell& cell, const std::uint16_t* rows, index n, Chunk& chunk) {
    const index padded = (n + kRows - 1) / kRows * kRows;
    double t[kChunk], weight[kChunk], one[kChunk];
    for (index e = 0; e < n; ++e) {
        weight[e] = f.weight[rows[e]];
        one[e] = 1.0;
    }
    for (index e = n; e < padded; ++e) t[e] = weight[e] = one[e] = 0.0;
    for (int k = 0; k < kCellVariables; ++k) {
        for (index e = 0; e < n; ++e) t[e] = f.coordinates[k][rows[e]];
        evaluate(cell.intervals[k], padded, t, k == 0 ? weight : one, chunk.values[k]);
    }
    return padded;
}

inline void add_tile(const ProductTile& tile, const Chunk& chunk, index n, double (*sums)[kRows]) {
    const auto& own = chunk.values[tile.variable];
    const auto &second = chunk.values[tile.variable == 0 ? 1 : 0], &third = chunk.values[tile.variable == 2 ? 1 : 2];
    Lanes total[kTileOthers][kCubics][kParts];
    for (int q = 0; q < kTileOthers; ++q)
        for (int i = 0; i < kCubics; ++i)
            for (int v = 0; v < kParts; ++v) total[q][i][v] = Lanes::load(sums[q * kCubics + i] + v * kLanes);
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
            for (int q = 0; q < kTileOthers; ++q) {
                const Lanes other =
                    Lanes::load(&second[tile.function[q][0]][at]) * Lanes::load(&third[tile.function[q][1]][at]);
                FASTHDMR_UNROLL
                for (int i = 0; i < kCubics; ++i) total[q][i][v] = total[q][i][v] + other * values[i];
            }
        }
    }
    for (int q = 0; q < kTileOthers; ++q)
        for (int i = 0; i < kCubics; ++i)
            for (int v = 0; v < kParts; ++v) total[q][i][v].store(sums[q * kCubics + i] + v * kLanes);
}

}  // namespace

void add_cell_functions(const CellFunctions& f, double* sums) {
    Chunk chunk;
    double four[kMostProducts][kRows];
    const index n_products = f.n_tiles * kTileProducts;
    for (index c = 0; c < f.n_cells; ++c) {
        const FunctionCell& cell = f.cells[c];
        for (index p = 0; p < n_products; ++p)
            for (int r = 0; r < kRows; ++r) four[p][r] = 0.0;
        for (index begin = cell.first; begin < cell.last; begin += kChunk) {
            const index n = cell.last - begin < kChunk ? cell.last - begin : kChunk;
            const index padded = fill(f, cell, f.rows + begin, n, chunk);
            for (index k = 0; k < f.n_tiles; ++k) add_tile(f.tiles[k], chunk, padded, four + k * kTileProducts);
        }
        double* out = sums + cell.begin;
        for (index p = 0; p < n_products; ++p) out[p] += (four[p][0] + four[p][1]) + (four[p][2] + four[p][3]);
    }
}

}  // namespace fasthdmr::FASTHDMR_ISA
