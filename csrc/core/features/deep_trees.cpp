#include "features/deep_trees.hpp"

#include <algorithm>

#include "kernels/compiler.hpp"
#include "kernels/kernels.hpp"
#include "support/interruption.hpp"

namespace fasthdmr {

namespace {

// Prefetches the next tree: it was last used for the previous block, and may no longer be in the first two caches. This
// is done only if the rows visit most of its cache lines; a line holds five nodes, and half of the depth is a usual path.
FASTHDMR_ALWAYS_INLINE void prefetch_tree(const Forest& forest, index t, index rows) {
    if (3 * rows * forest.depth(t) < forest.tree_size(t)) return;
    prefetch(forest.tree(t), forest.tree_size(t) * index(sizeof(Node)));
    if (forest.width() == 1 && 8 * rows >= forest.tree_size(t))
        prefetch(forest.values(t), forest.tree_size(t) * index(sizeof(double)));
}

// Blocks of up to so many rows are evaluated row by row.
constexpr index kFewRows = 16;
constexpr index kTreesTogether = 8;

// The leaves of one row in several trees. The row descends all of them at the same time, so that cache misses overlap.
template <bool Missing>
void find_leaves_of_row(const Forest& forest, const index (&trees)[kTreesTogether], const float* x,
                        std::int32_t (&leaf)[kTreesTogether]) {
    const Node* nodes[kTreesTogether];
    for (index k = 0; k < kTreesTogether; ++k) {
        nodes[k] = forest.tree(trees[k]);
        leaf[k] = 0;
    }
    for (bool moved = true; moved;) {
        std::int32_t changes = 0;
        FASTHDMR_UNROLL
        for (index k = 0; k < kTreesTogether; ++k) {
            const std::int32_t at = leaf[k];
            const Node& node = nodes[k][at];
            const float value = x[node.feature * kTile];
            if constexpr (Missing)
                leaf[k] =
                    node.left == at ? at : node.left + goes_right(node, forest.missing_left(trees[k])[at] != 0, value);
            else leaf[k] = node.left + (value > node.threshold);
            changes |= leaf[k] ^ at;
        }
        moved = changes != 0;
    }
}

}  // namespace

template <bool Missing>
void DeepTrees::add_row(const Forest& forest, const InputBlock& block, index row, double* const* columns) const {
    std::int32_t leaf[kTreesTogether];
    for (auto next = terms_.begin(); next != terms_.end();) {
        const auto first = next;
        index trees[kTreesTogether] = {}, n = 0;
        for (; next != terms_.end(); ++next) {
            if (!columns[next->column] || (n > 0 && trees[n - 1] == next->tree)) continue;
            if (n == kTreesTogether) break;
            trees[n++] = next->tree;
        }
        if (n == 0) return;
        std::fill(trees + n, trees + kTreesTogether, trees[n - 1]);
        find_leaves_of_row<Missing>(forest, trees, block.row(row), leaf);
        index k = 0;
        for (auto term = first; term != next; ++term) {
            if (!columns[term->column]) continue;
            while (trees[k] != term->tree) ++k;
            columns[term->column][row] += forest.values(trees[k])[leaf[k] * forest.width() + term->value_column];
        }
    }
}

void DeepTrees::finish(const Forest& forest) {
    std::stable_sort(terms_.begin(), terms_.end(), [](const Term& a, const Term& b) { return a.tree < b.tree; });
    std::vector<index> trees;
    for (const Term& term : terms_)
        if (trees.empty() || trees.back() != term.tree) trees.push_back(term.tree);
    sets_ = sets_of(forest, trees);
}

void DeepTrees::add(const Forest& forest, const InputBlock& block, double* const* columns) const {
    block.need_sets(sets_);
    if (block.rows() <= kFewRows) {
        for (index row = 0; row < block.rows(); ++row) {
            poll();
            if (block.has_missing()) add_row<true>(forest, block, row, columns);
            else add_row<false>(forest, block, row, columns);
        }
        return;
    }
    std::int32_t leaf[kBlockRows];
    const auto end = terms_.end();
    for (auto next = terms_.begin(); next != end;) {
        const auto first = next;
        const index t = first->tree;
        while (next != end && next->tree == t) ++next;
        if (std::none_of(first, next, [&](const Term& term) { return columns[term.column]; })) continue;
        poll();
        if (next != end) prefetch_tree(forest, next->tree, block.rows());
        kernels().find_leaves(forest.tree(t), forest.missing_left(t), forest.depth(t), block.values(), block.leading(),
                              block.rows(), leaf);
        for (auto term = first; term != next; ++term) {
            double* out = columns[term->column];
            if (!out) continue;
            const double* values = forest.values(t) + term->value_column;
            for (index r = 0; r < block.rows(); ++r) out[r] += values[leaf[r] * forest.width()];
        }
    }
}

}  // namespace fasthdmr
