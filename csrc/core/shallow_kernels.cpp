#include "kernel_set.hpp"

namespace fasthdmr::FASTHDMR_ISA {

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

}  // namespace

void add_shallow(const ShallowTree* trees, index n_trees, int depth, const float* x, index ld, index rows, double* out) {
    if (depth <= 1) return add_trees<1>(trees, n_trees, x, ld, rows, out);
    if (depth == 2) return add_trees<2>(trees, n_trees, x, ld, rows, out);
    add_trees<3>(trees, n_trees, x, ld, rows, out);
}

}  // namespace fasthdmr::FASTHDMR_ISA
