#include "padded_trees.hpp"

#include <algorithm>

#include "kernels.hpp"

namespace fasthdmr {

namespace {

// Copies the top of a tree in heap order; a leaf above the last level fills the whole subtree.
ShallowTree pad(const Node* tree, const double* values, index width, int depth) {
    ShallowTree out{};
    std::int32_t node[15] = {0};
    const int first_leaf = (1 << depth) - 1;
    for (int h = 0; h < first_leaf; ++h) {
        const Node& n = tree[node[h]];
        const bool leaf = n.left == node[h];
        out.feature[h] = n.feature;
        out.threshold[h] = n.threshold;
        node[2 * h + 1] = n.left;
        node[2 * h + 2] = leaf ? n.left : n.left + 1;
    }
    for (int k = 0; k <= first_leaf; ++k) out.leaf[k] = values[node[first_leaf + k] * width];
    return out;
}

// The leaf of the padded tree that a row reaches; below a leaf of the tree itself all have its value.
int padded_leaf(const Node* tree, const std::uint8_t* missing_left, int depth, const float* row) {
    index m = 0;
    int leaf = 0;
    for (int level = 0; level < depth; ++level) {
        const float x = row[tree[m].feature * kBlockRows];
        const bool right = !Forest::is_leaf(tree, m) && goes_right(tree[m], missing_left[m], x);
        m = tree[m].left + right;
        leaf = 2 * leaf + right;
    }
    return leaf;
}

}  // namespace

void PaddedTrees::append(const Forest& forest, index t, int depth, const double* values, index width) {
    depth = std::max(depth, 1);
    Level& level = levels_[depth - 1];
    level.trees.push_back(pad(forest.tree(t), values, width, depth));
    level.source.push_back(t);
}

// With missing values the same numbers are added in the same order, so that a row's sum depends on no other row.
void PaddedTrees::add(const Forest& forest, const InputBlock& block, double* out) const {
    for (int depth = 1; depth <= kShallowDepth; ++depth) {
        const auto& [trees, source] = levels_[depth - 1];
        if (!block.has_missing()) {
            kernels().add_shallow(trees.data(), index(trees.size()), depth, block.values(), kBlockRows, block.rows(),
                                  out);
            continue;
        }
        for (std::size_t k = 0; k < trees.size(); ++k) {
            const Node* tree = forest.tree(source[k]);
            const std::uint8_t* missing_left = forest.missing_left(source[k]);
            for (index r = 0; r < block.rows(); ++r)
                out[r] += trees[k].leaf[padded_leaf(tree, missing_left, depth, block.row(r))];
        }
    }
}

}  // namespace fasthdmr
