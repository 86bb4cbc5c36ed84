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
        out.variable[h] = leaf ? tree[0].feature : tree[m].feature;
        out.code[h] = in_both_halves(leaf ? kNeverRight : thresholds.rank(forest, t, m) + kLowestCode);
        out.missing_left |= std::uint8_t((leaf || forest.missing_left(t)[m]) << h);
        node[2 * h + 1] = tree[m].left;
        node[2 * h + 2] = leaf ? m : tree[m].left + 1;
    }
    // The bit of a split in a leaf's number depends on its level only, not on the depth of the tree.
    for (int k = 0; k <= first_leaf; ++k) out.leaf[k << (kShallowDepth - depth)] = values[node[first_leaf + k] * width];
    return out;
}

// The leaf value of a row with missing values.
double follow(const CodedTree& tree, int depth, const RankedBlock& block, const Thresholds& thresholds, index row) {
    int h = 0;
    for (int level = 0; level < depth; ++level) {
        const index variable = tree.variable[h];
        const std::int32_t rank = block.ranks(variable)[row];
        const bool is_missing = rank > thresholds.count(variable);
        const bool right = is_missing ? !(tree.missing_left >> h & 1) : rank + kLowestCode > std::int16_t(tree.code[h]);
        h = 2 * h + 1 + right;
    }
    return tree.leaf[(h + 1 - (1 << depth)) << (kShallowDepth - depth)];
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

// Rows with missing values are summed separately, but in the same order, so that their results do not depend on whether
// other rows of the block have missing values.
void CodedTrees::add(const RankedBlock& block, const Thresholds& thresholds, double* out) const {
    std::vector<double> rest;
    for (const index row : block.missing()) rest.push_back(out[row]);
    for (int depth = 1; depth <= kShallowDepth; ++depth) {
        const std::vector<CodedTree>& trees = trees_[depth - 1];
        if (trees.empty()) continue;
        kernels().add_coded(trees.data(), index(trees.size()), depth, block.codes(), kBlockRows, block.rows(), out);
        for (std::size_t k = 0; k < rest.size(); ++k)
            for (const CodedTree& tree : trees) rest[k] += follow(tree, depth, block, thresholds, block.missing()[k]);
    }
    for (std::size_t k = 0; k < rest.size(); ++k) out[block.missing()[k]] = rest[k];
}

}  // namespace fasthdmr
