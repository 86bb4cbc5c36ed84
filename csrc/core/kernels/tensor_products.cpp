// Weighted sums of tensor products over rows: Gram matrices of tensor-product splines.
#include "kernels/compiler.hpp"
#include "kernels/declarations.hpp"

namespace fasthdmr::FASTHDMR_ISA {

namespace {

constexpr index kMostOuter = 256;  // 4^4: two spans of three variables each, without the last two factors

// Number of doubles in a vector register.
#if defined(__AVX512F__)
constexpr int kLanes = 8;
#elif defined(__AVX__)
constexpr int kLanes = 4;
#else
constexpr int kLanes = 2;
#endif

// Outer product of `outer` and `values`, in place: each entry is replaced by its products with all values.
template <int Run>
inline index multiply(double* outer, index n, const double* values) {
    for (index i = n - 1; i >= 0; --i) {
        const double factor = outer[i];
        for (int j = 0; j < Run; ++j) outer[Run * i + j] = factor * values[j];
    }
    return n * Run;
}

// Products of the last two factors are in registers; Inner is 1 if there is only one factor. Every vector of products
// is added to memory, so stores limit the rate, not arithmetic: 6 products per nanosecond on Zen 4, whose matrix products
// reach 28. Sums over rows sorted by cell, as in cell_products.cpp, were not faster here. Sorting takes only 1.2 ns a row
// of three variables, and 112 products in registers 7 ns instead of 17. But a cell has few rows (of 225 cells, 9 for
// 2,000 rows). For each cell 28 vectors are added to sums that do not fit into the second-level cache (7 MB for 8
// variables), and rows are read out of order. With more rows at a time the rows do not fit into that cache either.
template <int Inner, int Run>
void add_rows(const TensorRows& t, const double* weight, index rows, double* sums) {
    constexpr int lanes = Run < kLanes ? Run : kLanes;
    using Lanes = Vector<lanes>;
    const index stride = t.stride;
    const int heads = t.factors - (Inner == 1 ? 1 : 2);
    double outer[kMostOuter];
    for (index r = 0; r < rows; ++r) {
        outer[0] = weight[r];
        index n = 1;
        for (int k = 0; k < heads; ++k)
            n = t.runs[k] == 4 ? multiply<4>(outer, n, t.values[k] + r * 4)
                               : multiply<8>(outer, n, t.values[k] + r * 8);
        const double* inner = Inner == 1 ? nullptr : t.values[heads] + r * Inner;
        for (int v = 0; v < Run; v += lanes) {
            const Lanes last = Lanes::load(t.values[t.factors - 1] + r * Run + v);
            Lanes products[Inner];
            for (int j = 0; j < Inner; ++j) products[j] = Inner == 1 ? last : inner[j] * last;
            for (index i = 0; i < n; ++i) {
                double* out = sums + t.begin[r] + t.offsets[i] + v;
                const double factor = outer[i];
                FASTHDMR_UNROLL
                for (int j = 0; j < Inner; ++j) (factor * products[j]).add_to(out + j * stride);
            }
        }
    }
}

template <int Run>
void add_rows_of(const TensorRows& t, const double* weight, index rows, double* sums) {
    if (t.factors == 1) return add_rows<1, Run>(t, weight, rows, sums);
    if (t.runs[t.factors - 2] == 4) return add_rows<4, Run>(t, weight, rows, sums);
    add_rows<8, Run>(t, weight, rows, sums);
}

}  // namespace

void add_tensors(const TensorRows& t, const double* weight, index rows, double* sums) {
    if (t.runs[t.factors - 1] == 4) return add_rows_of<4>(t, weight, rows, sums);
    add_rows_of<8>(t, weight, rows, sums);
}

}  // namespace fasthdmr::FASTHDMR_ISA
