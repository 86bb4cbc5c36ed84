#include "features.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels.hpp"
#include "parallel.hpp"

namespace fasthdmr {

namespace {

// Copies the subtree below m into heap position h; a leaf above the last level fills the whole subtree.
void pad(const Node* tree, const double* values, index width, int depth, ShallowTree& out) {
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
}

index leaf_of(const Node* tree, const std::uint8_t* missing_left, const float* row) {
    index m = 0;
    while (!Forest::is_leaf(tree, m)) {
        const float value = row[tree[m].feature * kBlockRows];
        const bool right = std::isnan(value) ? !missing_left[m] : value > tree[m].threshold;
        m = tree[m].left + right;
    }
    return m;
}

}  // namespace

void InputBlock::load(const Table& x, const Rows& rows) {
    rows_ = rows.count;
    has_missing_ = false;
    for (index j = 0; j < x.columns; ++j) {
        float* column = values_.data() + j * kBlockRows;
        bool missing = false;
        for (index r = 0; r < rows_; ++r) {
            column[r] = float(x.at(rows[r], j));
            missing |= std::isnan(column[r]);
        }
        has_missing_ |= missing;
    }
}

TreeSum::TreeSum(const Forest& forest, const std::vector<index>& trees, index output)
    : trees_(trees), value_column_(forest.value_column(output)) {
    for (int depth = 0; depth <= kShallowDepth; ++depth) {
        const index first = index(shallow_.size());
        for (const index t : trees) {
            if (forest.depth(t) != depth) continue;
            shallow_.push_back({});
            pad(forest.tree(t), forest.values(t) + value_column_, forest.width(), std::max(depth, 1), shallow_.back());
        }
        if (const index count = index(shallow_.size()) - first) runs_.push_back({depth, first, count});
    }
    for (const index t : trees)
        if (forest.depth(t) > kShallowDepth) deep_.push_back(t);
}

void TreeSum::add(const Forest& forest, const InputBlock& block, double* out) const {
    if (block.has_missing()) return add_with_missing(forest, block, out);
    const Kernels& kernel = kernels();
    for (const Run& run : runs_)
        kernel.add_shallow(shallow_.data() + run.first, run.count, run.depth, block.values(), kBlockRows, block.rows(), out);
    for (const index t : deep_)
        kernel.add_deep(forest.tree(t), forest.depth(t), forest.values(t) + value_column_, forest.width(), block.values(),
                        kBlockRows, block.rows(), out);
}

// Same trees in the same order as the kernels, so that a missing value in one row changes no other row's sum.
void TreeSum::add_with_missing(const Forest& forest, const InputBlock& block, double* out) const {
    std::vector<index> order;
    order.reserve(trees_.size());
    for (int depth = 0; depth <= kShallowDepth; ++depth)
        for (const index t : trees_)
            if (forest.depth(t) == depth) order.push_back(t);
    order.insert(order.end(), deep_.begin(), deep_.end());
    for (const index t : order) {
        const double* values = forest.values(t) + value_column_;
        for (index r = 0; r < block.rows(); ++r)
            out[r] += values[leaf_of(forest.tree(t), forest.missing_left(t), block.row(r)) * forest.width()];
    }
}

namespace {

// Fills columns of out with sums of trees, block after block of rows; start[k] is the value a sum starts from.
void fill(const Forest& forest, const std::vector<TreeSum>& sums, const std::vector<double>& start, const Table& x,
          double* out, int n_threads) {
    parallel_for((x.rows + kBlockRows - 1) / kBlockRows, n_threads, [&](index task) {
        const index begin = task * kBlockRows, n = std::min(kBlockRows, x.rows - begin);
        InputBlock block(x.columns);
        block.load(x, {begin, 1, n});
        for (std::size_t k = 0; k < sums.size(); ++k) {
            double* column = out + index(k) * x.rows + begin;
            std::fill(column, column + n, start[k]);
            sums[k].add(forest, block, column);
        }
    });
}

}  // namespace

void predict(const Forest& forest, const Table& x, double* out, int n_threads) {
    std::vector<TreeSum> sums;
    for (index output = 0; output < forest.n_outputs(); ++output) {
        std::vector<index> trees;
        for (index t = 0; t < forest.n_trees(); ++t)
            if (forest.adds_to(t, output)) trees.push_back(t);
        sums.emplace_back(forest, trees, output);
    }
    fill(forest, sums, forest.offset(), x, out, n_threads);
}

void group_features(const Forest& forest, const Table& x, double* out, int n_threads) {
    std::vector<TreeSum> sums;
    for (index output = 0; output < forest.n_outputs(); ++output)
        for (const Group& group : group_trees(forest, output)) sums.emplace_back(forest, group.trees, output);
    fill(forest, sums, std::vector<double>(sums.size(), 0.0), x, out, n_threads);
}

}  // namespace fasthdmr
