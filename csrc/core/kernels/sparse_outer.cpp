// Weighted sums of outer products of sparse rows: Gram matrices of B-splines, of which few are nonzero at a row.
#include "kernels/compiler.hpp"
#include "kernels/declarations.hpp"

namespace fasthdmr::FASTHDMR_ISA {

namespace {

template <int Run>
inline void add_run(double factor, const double* FASTHDMR_RESTRICT b, double* FASTHDMR_RESTRICT out) {
#ifdef __AVX__
    if constexpr (Run == 4) {
        (factor * Vector<4>::load(b)).add_to(out);
        return;
    }
#endif
    for (int j = 0; j < Run; ++j) out[j] += factor * b[j];
}

// If the number of runs is a constant (not 0), the row of b stays in registers.
template <int Run, int Runs>
void add_row_products(const SparseRows& a, const SparseRows& b, const double* weight, index rows, double* g, index ld) {
    const index runs = Runs ? Runs : b.runs;
    for (index r = 0; r < rows; ++r) {
        const double* FASTHDMR_RESTRICT av = a.values + r * a.runs * a.run;
        const double* FASTHDMR_RESTRICT bv = b.values + r * runs * Run;
        const std::int32_t* FASTHDMR_RESTRICT starts = b.starts + r * runs;
        for (index p = 0; p < a.runs; ++p) {
            double* row = g + a.starts[r * a.runs + p] * ld;
            for (int i = 0; i < a.run; ++i, row += ld) {
                const double factor = weight[r] * av[p * a.run + i];
                for (index q = 0; q < runs; ++q) add_run<Run>(factor, bv + q * Run, row + starts[q]);
            }
        }
    }
}

template <int Run>
void add_products_of(const SparseRows& a, const SparseRows& b, const double* weight, index rows, double* g, index ld) {
    if (b.runs == 1) return add_row_products<Run, 1>(a, b, weight, rows, g, ld);
    if (b.runs == Run) return add_row_products<Run, Run>(a, b, weight, rows, g, ld);
    add_row_products<Run, 0>(a, b, weight, rows, g, ld);
}

}  // namespace

void add_products(const SparseRows& a, const SparseRows& b, const double* weight, index rows, double* g, index ld) {
    if (b.run == 1) return add_products_of<1>(a, b, weight, rows, g, ld);
    if (b.run == 2) return add_products_of<2>(a, b, weight, rows, g, ld);
    if (b.run == 3) return add_products_of<3>(a, b, weight, rows, g, ld);
    add_products_of<4>(a, b, weight, rows, g, ld);
}

}  // namespace fasthdmr::FASTHDMR_ISA
