#include "features/shallow_trees.hpp"

#include <algorithm>

#include "kernels/kernels.hpp"

namespace fasthdmr {

namespace {

// The 16 bits of a code in both halves of a word.
std::int32_t twice(std::int32_t code) { return std::int32_t(std::uint32_t(code & 0xffff) * 0x10001u); }

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
        out.code[h] = twice(leaf ? kNeverRight : thresholds.rank(forest, t, m) + kLowestCode);
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

// The outcome of one path of a pair for a row with missing values.
int follow(const CodedPaths& pair, int first, const RankedBlock& block, const Thresholds& thresholds, index row) {
    const auto passes = [&](int m) {
        const bool is_complement = pair.variable[m] >= thresholds.variables();
        const index variable = pair.variable[m] - (is_complement ? thresholds.variables() : 0);
        const std::int32_t rank = block.ranks(variable)[row];
        if (rank > thresholds.count(variable)) return bool(pair.missing >> m & 1);
        const std::int32_t code = rank + kLowestCode;
        return (is_complement ? ~code : code) > std::int16_t(pair.code[m]);
    };
    return passes(first) && passes(first + 1) ? 1 + passes(first + 2) : 0;
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

void CodedTrees::append_path(const Forest& forest, const Thresholds& thresholds, index tree,
                             const std::vector<std::int32_t>& nodes, const double (&values)[2]) {
    const int first = last_is_half_ ? 3 : 0, n_nodes = int(nodes.size()), padding = kShallowDepth - n_nodes;
    const std::int32_t complements = std::int32_t(thresholds.variables());
    if (first == 0) {
        paths_.emplace_back();
        for (int m = 3; m < 6; ++m) paths_.back().code[m] = twice(kNeverRight);  // no row passes an absent second path
    }
    last_is_half_ = !last_is_half_;
    CodedPaths& pair = paths_.back();
    for (int m = first; m < first + padding; ++m) {  // every row passes: all complements of codes are greater
        pair.variable[m] = forest.tree(tree)[0].feature + complements;
        pair.code[m] = twice(kLowestCode);
        pair.missing |= std::uint8_t(1 << m);
    }
    for (int k = 0, m = first + padding; k < n_nodes; ++k, ++m) {
        const Node& node = forest.tree(tree)[nodes[k]];
        const bool to_the_right = k + 1 == n_nodes || nodes[k + 1] == node.left + 1;
        const std::int32_t code = thresholds.rank(forest, tree, nodes[k]) + kLowestCode;
        pair.variable[m] = node.feature + (to_the_right ? 0 : complements);
        pair.code[m] = twice(to_the_right ? code : ~code - 1);
        const bool missing_goes_right = !forest.missing_left(tree)[nodes[k]];
        pair.missing |= std::uint8_t((missing_goes_right == to_the_right) << m);
    }
    for (int k = 0; k < 2; ++k)
        if (first == 0) pair.value[3 * k + 3] = values[k];
        else
            for (int i = 0; i < 3; ++i) pair.value[3 * i + k + 1] = pair.value[3 * i] + values[k];
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
    kernels().add_paths(paths_.data(), index(paths_.size()), block.codes(), kBlockRows, block.rows(), out);
    for (std::size_t k = 0; k < rest.size(); ++k)
        for (const CodedPaths& pair : paths_)
            rest[k] += pair.value[3 * follow(pair, 0, block, thresholds, block.missing()[k]) +
                                  follow(pair, 3, block, thresholds, block.missing()[k])];
    for (std::size_t k = 0; k < rest.size(); ++k) out[block.missing()[k]] = rest[k];
}

}  // namespace fasthdmr
