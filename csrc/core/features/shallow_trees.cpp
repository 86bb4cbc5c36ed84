#include "features/shallow_trees.hpp"

#include <algorithm>

#include "kernels/kernels.hpp"

namespace fasthdmr {

namespace {

// Copies the top of a tree in heap order. A leaf above the last level is copied to all leaves of its subtree.
CodedTree code_top(const Forest& forest, const Thresholds& thresholds, index t, int depth, const double* values,
                   index width) {
    const Node* tree = forest.tree(t);
    CodedTree out{};
    std::int32_t node[15] = {0};
    const int first_leaf = (1 << depth) - 1;
    for (int h = 0; h < first_leaf; ++h) {
        const std::int32_t m = node[h];
        const bool leaf = Forest::is_leaf(tree, m);
        out.variable[h] = leaf ? 0 : thresholds.code_column(forest, t, m);
        out.code[h] = in_both_halves(leaf ? kNeverRight : thresholds.rank(forest, t, m) + kLowestCode);
        node[2 * h + 1] = tree[m].left;
        node[2 * h + 2] = leaf ? m : tree[m].left + 1;
    }
    // The bit of a split in a leaf's number depends on its level only, not on the depth of the tree.
    for (int k = 0; k <= first_leaf; ++k) out.leaf[k << (kShallowDepth - depth)] = values[node[first_leaf + k] * width];
    return out;
}

}  // namespace

bool can_be_coded(const Forest& forest, const Thresholds& thresholds, index tree) {
    const Node* nodes = forest.tree(tree);
    for (index m = 0; m < forest.tree_size(tree); ++m)
        if (!Forest::is_leaf(nodes, m) && thresholds.count(nodes[m].feature) > kMostThresholds) return false;
    return true;
}

void CodedTrees::append(const Forest& forest, const Thresholds& thresholds, index tree, int depth, const double* values,
                        index width) {
    depth = std::max(depth, 1);
    trees_[depth - 1].push_back(code_top(forest, thresholds, tree, depth, values, width));
}

void CodedTrees::add(const RankedBlock& block, double* out) const {
    for (int depth = 1; depth <= kShallowDepth; ++depth)
        if (const std::vector<CodedTree>& trees = trees_[depth - 1]; !trees.empty())
            kernels().add_coded(trees.data(), index(trees.size()), depth, block.codes(), block.leading(), block.rows(),
                                out);
}

}  // namespace fasthdmr
