#include "features/deep_trees.hpp"

#include <algorithm>

#include "kernels/compiler.hpp"
#include "kernels/kernels.hpp"
#include "support/interruption.hpp"

namespace fasthdmr {

namespace {

// Always inlined: GCC removes calls of functions that only prefetch, because they have no visible effect.
FASTHDMR_ALWAYS_INLINE void prefetch(const void* data, index bytes) {
    constexpr index line = 64;
    for (index k = 0; k < bytes; k += line) FASTHDMR_PREFETCH(static_cast<const char*>(data) + k);
}

// Prefetches the next tree: it was last used for the previous block, and may no longer be in the first two caches. This
// is done only if the rows visit most of its nodes.
FASTHDMR_ALWAYS_INLINE void prefetch_tree(const Forest& forest, index t, index rows) {
    if (rows * forest.depth(t) < forest.tree_size(t)) return;
    prefetch(forest.tree(t), forest.tree_size(t) * index(sizeof(Node)));
    if (forest.width() == 1) prefetch(forest.values(t), forest.tree_size(t) * index(sizeof(double)));
}

}  // namespace

void DeepTrees::finish(const Forest& forest) {
    std::stable_sort(terms_.begin(), terms_.end(), [](const Term& a, const Term& b) { return a.tree < b.tree; });
    std::vector<index> trees;
    for (const Term& term : terms_)
        if (trees.empty() || trees.back() != term.tree) trees.push_back(term.tree);
    sets_ = sets_of(forest, trees);
}

void DeepTrees::add(const Forest& forest, const InputBlock& block, double* const* columns) const {
    std::int32_t leaf[kBlockRows];
    block.need_sets(sets_);
    const auto end = terms_.end();
    for (auto next = terms_.begin(); next != end;) {
        const auto first = next;
        const index t = first->tree;
        while (next != end && next->tree == t) ++next;
        if (std::none_of(first, next, [&](const Term& term) { return columns[term.column]; })) continue;
        poll();
        if (next != end) prefetch_tree(forest, next->tree, block.rows());
        kernels().find_leaves(forest.tree(t), forest.missing_left(t), forest.depth(t), block.values(), kBlockRows,
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
