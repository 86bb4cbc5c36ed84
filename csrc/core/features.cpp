#include "features.hpp"

#include <algorithm>

#include "kernels.hpp"
#include "parallel.hpp"

namespace fasthdmr {

namespace {

index leaf_of(const Node* tree, const std::uint8_t* missing_left, const float* row) {
    index m = 0;
    while (!Forest::is_leaf(tree, m))
        m = tree[m].left + goes_right(tree[m], missing_left[m], row[tree[m].feature * kBlockRows]);
    return m;
}

}  // namespace

TreeSum::TreeSum(const Forest& forest, const std::vector<index>& trees, index output)
    : value_column_(forest.value_column(output)) {
    for (const index t : trees) {
        if (forest.depth(t) > kShallowDepth)
            deep_.push_back(t);
        else
            shallow_.append(forest, t, forest.depth(t), forest.values(t) + value_column_, forest.width());
    }
}

// With missing values the same numbers are added in the same order, so that a row's sum depends on no other row.
void TreeSum::add(const Forest& forest, const InputBlock& block, double* out) const {
    shallow_.add(forest, block, out);
    for (const index t : deep_) {
        const Node* tree = forest.tree(t);
        const double* values = forest.values(t) + value_column_;
        if (!block.has_missing()) {
            kernels().add_deep(tree, forest.depth(t), values, forest.width(), block.values(), kBlockRows, block.rows(),
                               out);
            continue;
        }
        for (index r = 0; r < block.rows(); ++r)
            out[r] += values[leaf_of(tree, forest.missing_left(t), block.row(r)) * forest.width()];
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
