#include "kernels/declarations.hpp"

namespace fasthdmr::FASTHDMR_ISA {

namespace {

#if defined(__AVX512F__)
constexpr int kLanes = 8;
#elif defined(__AVX__)
constexpr int kLanes = 4;
#else
constexpr int kLanes = 2;
#endif

constexpr index kChunk = 16;  // rows whose products of factors are at hand at a time
constexpr int kMost = 64;     // 4^kMostFactors

// The tensor products of the factors at some rows, times their weights.
template <int Factors>
inline void expand(const double* const* axes, const double* weight, const std::int32_t* rows, index count,
                   double* out) {
    constexpr int size = Factors == 1 ? 4 : Factors == 2 ? 16 : 64;
    for (index r = 0; r < count; ++r, out += size) {
        const double scale = weight ? weight[rows[r]] : 1.0;
        const double* last = axes[Factors - 1] + 4 * index(rows[r]);
        double head[size / 4] = {scale};
        if constexpr (Factors == 2)
            for (int i = 0; i < 4; ++i) head[i] = scale * axes[0][4 * index(rows[r]) + i];
        if constexpr (Factors == 3)
            for (int i = 0; i < 16; ++i)
                head[i] = scale * axes[0][4 * index(rows[r]) + i / 4] * axes[1][4 * index(rows[r]) + i % 4];
        for (int i = 0; i < size / 4; ++i)
            for (int j = 0; j < 4; ++j) out[4 * i + j] = head[i] * last[j];
    }
}

// Adds a' b for 4 columns of a and Width of b. Registers hold sums of a chunk of rows; they are added in that order in
// all sets, so that all give the same bits.
template <int Width, int SizeA, int SizeB>
inline void add_corner(const double* a, const double* b, index count, double (&sum)[4][Width]) {
    // Doubles of a register, written out: compilers do not keep arrays of sums in registers.
    constexpr int lanes = Width < kLanes ? Width : kLanes, vectors = Width / lanes;
    typedef double Lanes __attribute__((vector_size(8 * lanes), aligned(8), may_alias));
    Lanes total[4][vectors] = {};
    for (index r = 0; r < count; ++r) {
        Lanes right[vectors];
        for (int v = 0; v < vectors; ++v) right[v] = *reinterpret_cast<const Lanes*>(b + r * SizeB + v * lanes);
        for (int i = 0; i < 4; ++i)
            for (int v = 0; v < vectors; ++v) total[i][v] += a[r * SizeA + i] * right[v];
    }
    for (int i = 0; i < 4; ++i)
        for (int v = 0; v < vectors; ++v) *reinterpret_cast<Lanes*>(&sum[i][v * lanes]) = total[i][v];
}

template <int FactorsA, int FactorsB>
void add_rows(const CellProduct& product, const std::int32_t* rows, index count, double* g) {
    constexpr int size_a = FactorsA == 1 ? 4 : FactorsA == 2 ? 16 : 64;
    constexpr int size_b = FactorsB == 1 ? 4 : FactorsB == 2 ? 16 : 64;
    constexpr int width = size_b < 16 ? size_b : 16;
    alignas(64) double a[kChunk * kMost], b[kChunk * kMost];
    for (index begin = 0; begin < count; begin += kChunk) {
        const index n = count - begin < kChunk ? count - begin : kChunk;
        expand<FactorsA>(product.a, product.weight, rows + begin, n, a);
        expand<FactorsB>(product.b, nullptr, rows + begin, n, b);
        for (int i = 0; i < size_a; i += 4)
            for (int j = 0; j < size_b; j += width) {
                alignas(64) double sum[4][width];
                add_corner<width, size_a, size_b>(a + i, b + j, n, sum);
                for (int p = 0; p < 4; ++p)
                    for (int q = 0; q < width; q += 4) {
                        double* out = g + product.row_offsets[i + p] + product.offsets[j + q];
                        for (int k = 0; k < 4; ++k) out[k] += sum[p][q + k];
                    }
            }
    }
}

template <int FactorsA>
void add_rows_of(const CellProduct& product, const std::int32_t* rows, index count, double* g) {
    if (product.factors_b == 1) return add_rows<FactorsA, 1>(product, rows, count, g);
    if (product.factors_b == 2) return add_rows<FactorsA, 2>(product, rows, count, g);
    add_rows<FactorsA, 3>(product, rows, count, g);
}

}  // namespace

void add_cell(const CellProduct& product, const std::int32_t* rows, index count, double* g) {
    if (product.factors_a == 1) return add_rows_of<1>(product, rows, count, g);
    if (product.factors_a == 2) return add_rows_of<2>(product, rows, count, g);
    add_rows_of<3>(product, rows, count, g);
}

}  // namespace fasthdmr::FASTHDMR_ISA
