#include "kernel_set.hpp"

namespace fasthdmr::FASTHDMR_ISA {

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

}  // namespace fasthdmr::FASTHDMR_ISA
