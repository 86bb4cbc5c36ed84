#include "kernels.hpp"

#define FASTHDMR_CONCAT_(a, b) a##b
#define FASTHDMR_CONCAT(a, b) FASTHDMR_CONCAT_(a, b)
#define FASTHDMR_STRING_(a) #a
#define FASTHDMR_STRING(a) FASTHDMR_STRING_(a)

namespace fasthdmr {

namespace {

// Both branches are at hand: choosing by bits keeps the compiler from putting a jump here.
inline std::int32_t choose(std::int32_t right, std::int32_t if_left, std::int32_t if_right) {
    return if_left ^ (-right & (if_left ^ if_right));
}

// Rows whose leaf numbers are worked out before any leaf value is fetched: both loops then vectorise.
constexpr index kStrip = 128;

template <int Depth>
void leaf_numbers(const ShallowTree& tree, const float* x, index ld, index rows, std::int32_t* leaf) {
    constexpr int n_nodes = (1 << Depth) - 1;
    const float* column[7];
    float t[7];
    for (int m = 0; m < 7; ++m) {
        column[m] = x + (m < n_nodes ? tree.feature[m] : 0) * ld;
        t[m] = tree.threshold[m];
    }
    const float *x0 = column[0], *x1 = column[1], *x2 = column[2], *x3 = column[3], *x4 = column[4], *x5 = column[5],
                *x6 = column[6];
    for (index r = 0; r < rows; ++r) {
        const std::int32_t c0 = x0[r] > t[0];
        if constexpr (Depth == 1) {
            leaf[r] = c0;
            continue;
        }
        const std::int32_t below1 = x1[r] > t[1], below2 = x2[r] > t[2];
        const std::int32_t c1 = choose(c0, below1, below2);
        if constexpr (Depth == 2) {
            leaf[r] = 2 * c0 + c1;
            continue;
        }
        const std::int32_t below3 = x3[r] > t[3], below4 = x4[r] > t[4], below5 = x5[r] > t[5], below6 = x6[r] > t[6];
        leaf[r] = 4 * c0 + 2 * c1 + choose(c0, choose(c1, below3, below4), choose(c1, below5, below6));
    }
}

template <int Depth>
void add_trees(const ShallowTree* trees, index n_trees, const float* x, index ld, index rows, double* out) {
    std::int32_t leaf[kStrip];
    for (index begin = 0; begin < rows; begin += kStrip) {
        const index n = rows - begin < kStrip ? rows - begin : kStrip;
        for (index t = 0; t < n_trees; ++t) {
            const ShallowTree& tree = trees[t];
            leaf_numbers<Depth>(tree, x + begin, ld, n, leaf);
            double* sum = out + begin;
            if constexpr (Depth == 1) {
                const double low = tree.leaf[0], high = tree.leaf[1];
                for (index r = 0; r < n; ++r) sum[r] += leaf[r] ? high : low;
            } else {
                for (index r = 0; r < n; ++r) sum[r] += tree.leaf[leaf[r]];
            }
        }
    }
}

void add_shallow(const ShallowTree* trees, index n_trees, int depth, const float* x, index ld, index rows, double* out) {
    if (depth <= 1) return add_trees<1>(trees, n_trees, x, ld, rows, out);
    if (depth == 2) return add_trees<2>(trees, n_trees, x, ld, rows, out);
    add_trees<3>(trees, n_trees, x, ld, rows, out);
}

// Eight rows walk side by side, so that their cache misses overlap; a row at its leaf stays there.
void add_deep(const Node* tree, int depth, const double* values, index width, const float* x, index ld, index rows,
              double* out) {
    constexpr index kSide = 8;
    for (index begin = 0; begin < rows; begin += kSide) {
        const index n = rows - begin < kSide ? rows - begin : kSide;
        std::int32_t at[kSide] = {};
        for (int level = 0; level < depth; ++level) {
            std::int32_t moved = 0;
            for (index r = 0; r < n; ++r) {
                const Node& node = tree[at[r]];
                const std::int32_t next = node.left + (x[node.feature * ld + begin + r] > node.threshold);
                moved |= next ^ at[r];
                at[r] = next;
            }
            if (!moved) break;
        }
        for (index r = 0; r < n; ++r) out[begin + r] += values[at[r] * width];
    }
}

void add_scaled(double factor, const double* x, index rows, double* out) {
    for (index r = 0; r < rows; ++r) out[r] += factor * x[r];
}

#ifdef __AVX__
// Four doubles anywhere in memory: written out, because compilers do not find them in loops of four.
typedef double Four __attribute__((vector_size(32), aligned(8), may_alias));
#endif

template <int Run>
inline void add_run(double factor, const double* __restrict b, double* __restrict out) {
#ifdef __AVX__
    if constexpr (Run == 4) {
        *reinterpret_cast<Four*>(out) += factor * *reinterpret_cast<const Four*>(b);
        return;
    }
#endif
    for (int j = 0; j < Run; ++j) out[j] += factor * b[j];
}

// The outer products of two sparse rows. A known number of stretches keeps the row of b in registers.
template <int Run, int Runs>
void add_row_products(const SparseRows& a, const SparseRows& b, const double* weight, index rows, double* g, index ld) {
    const index runs = Runs ? Runs : b.runs;
    for (index r = 0; r < rows; ++r) {
        const double* __restrict av = a.values + r * a.runs * a.run;
        const double* __restrict bv = b.values + r * runs * Run;
        const std::int32_t* __restrict starts = b.starts + r * runs;
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

void add_products(const SparseRows& a, const SparseRows& b, const double* weight, index rows, double* g, index ld) {
    if (b.run == 1) return add_products_of<1>(a, b, weight, rows, g, ld);
    if (b.run == 2) return add_products_of<2>(a, b, weight, rows, g, ld);
    if (b.run == 3) return add_products_of<3>(a, b, weight, rows, g, ld);
    add_products_of<4>(a, b, weight, rows, g, ld);
}

}  // namespace

extern const Kernels FASTHDMR_CONCAT(kernels_, FASTHDMR_ISA);
const Kernels FASTHDMR_CONCAT(kernels_, FASTHDMR_ISA) = {FASTHDMR_STRING(FASTHDMR_ISA), add_shallow, add_deep, add_scaled,
                                                       add_products};

}  // namespace fasthdmr
