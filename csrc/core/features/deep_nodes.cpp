#include "features/deep_nodes.hpp"

#include <algorithm>

namespace fasthdmr {

namespace {

constexpr index kRowsTogether = 8;

// Several rows descend at the same time, so that their cache misses overlap. Along a path the subspaces grow, and so do
// their numbers. So the nodes of one subspace are consecutive, and their differences add up to the difference between
// the last value of this run and the value before it.
template <bool Missing>
void traverse(const DeepTree& of, const InputBlock& block, double* const* columns, index stop) {
    const index width = of.forest.width();
    const Node* tree = of.forest.tree(of.tree);
    const std::int32_t* below = of.below;
    const std::uint8_t* missing_left = of.forest.missing_left(of.tree);
    const double* values = of.forest.values(of.tree) + of.value_column;
    for (index begin = 0; begin < block.rows(); begin += kRowsTogether) {
        const index n = std::min(kRowsTogether, block.rows() - begin);
        std::int32_t at[kRowsTogether] = {}, group[kRowsTogether];
        double start[kRowsTogether];  // the value before the run of the group
        std::fill_n(group, kRowsTogether, below[0]);
        std::fill_n(start, kRowsTogether, values[0]);
        const auto finish_run = [&](index r) {
            const double value = values[at[r] * width];
            if (columns[group[r]]) columns[group[r]][begin + r] += value - start[r];
            start[r] = value;
        };
        for (bool moved = true; moved;) {
            moved = false;
            for (index r = 0; r < n; ++r) {
                if (group[r] >= stop) continue;
                const std::int32_t m = at[r];
                if (below[m] != group[r]) {
                    finish_run(r);
                    group[r] = below[m];
                }
                const Node& node = tree[m];
                const float x = block.row(begin + r)[node.feature * block.leading()];
                if constexpr (Missing)
                    at[r] = Forest::is_leaf(tree, m) ? m : node.left + goes_right(node, missing_left[m], x);
                else at[r] = node.left + (x > node.threshold);
                moved |= at[r] != m;
            }
        }
        for (index r = 0; r < n; ++r) finish_run(r);
    }
}

}  // namespace

void add_node_terms(const DeepTree& tree, const InputBlock& block, double* const* columns, index stop) {
    if (block.has_missing()) traverse<true>(tree, block, columns, stop);
    else traverse<false>(tree, block, columns, stop);
}

}  // namespace fasthdmr
