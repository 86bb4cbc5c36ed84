#include "node_features.hpp"

#include <algorithm>

#include "parallel.hpp"

namespace fasthdmr {

NodeSums::NodeSums(const Forest& forest, index output)
    : groups_(group_nodes(forest, output)), value_column_(forest.value_column(output)) {
    const auto is_single = [](const Subspace& u) { return u.size() == 1; };
    std::vector<std::vector<index>> by_root(std::count_if(subspaces().begin(), subspaces().end(), is_single));
    shallow_.resize(subspaces().size() - by_root.size());
    for (index t = 0; t < forest.n_trees(); ++t) {
        if (!forest.adds_to(t, output)) continue;
        ++n_trees_;
        constant_ += forest.values(t)[value_column_];
        if (forest.depth(t) > 0) by_root[groups_.below[t][0]].push_back(t);
        if (forest.depth(t) > kShallowDepth) {
            deep_.push_back(t);
        } else {
            append_shallow(forest, t, index(by_root.size()));
            groups_.below[t] = {};
        }
    }
    for (const auto& trees : by_root) single_.emplace_back(forest, trees, value_column_);
}

// What a tree adds to one subspace is a tree again: its top down to the last node of that subspace.
void NodeSums::append_shallow(const Forest& forest, index t, index n_single) {
    constexpr index max_nodes = 15;
    const Node* tree = forest.tree(t);
    const std::vector<std::int32_t>& below = groups_.below[t];
    const double* values = forest.values(t) + value_column_;
    std::vector<std::int32_t> groups;
    for (index m = 0; m < forest.tree_size(t); ++m)
        if (!Forest::is_leaf(tree, m) && below[m] >= n_single) groups.push_back(below[m]);
    std::sort(groups.begin(), groups.end());
    groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
    for (const std::int32_t group : groups) {
        double sum[max_nodes] = {};  // of the terms on the path to each node that belong to the group
        int level[max_nodes] = {}, depth = 0;
        for (index m = 0; m < forest.tree_size(t); ++m) {
            if (Forest::is_leaf(tree, m)) continue;
            const bool belongs = below[m] == group;
            for (const index child : {index(tree[m].left), index(tree[m].left) + 1}) {
                level[child] = level[m] + 1;
                sum[child] = sum[m];
                if (belongs) sum[child] += values[child * forest.width()] - values[m * forest.width()];
            }
            if (belongs) depth = std::max(depth, level[m] + 1);
        }
        shallow_[group - n_single].append(forest, t, depth, sum, 1);
    }
}

void NodeSums::add(const Forest& forest, const InputBlock& block, double* const* columns) const {
    const index n_single = index(single_.size());
    index stop = 0;  // no column is wanted from here on
    for (index g = 0; g < index(subspaces().size()); ++g) {
        if (!columns[g]) continue;
        stop = g + 1;
        if (g < n_single)
            single_[g].add(block.row(0) + single_[g].variable() * kBlockRows, block.rows(), columns[g]);
        else
            shallow_[g - n_single].add(forest, block, columns[g]);
    }
    if (stop <= n_single) return;
    const auto walk = block.has_missing() ? &NodeSums::add_deep<true> : &NodeSums::add_deep<false>;
    for (const index t : deep_) (this->*walk)(forest, t, block, columns, stop);
}

// Eight rows walk side by side, so that their cache misses overlap. On the way down the subspaces grow, and so do their
// numbers: the terms of one subspace follow each other, and only the values at both ends of such a run matter.
template <bool Missing>
void NodeSums::add_deep(const Forest& forest, index t, const InputBlock& block, double* const* columns,
                        index stop) const {
    constexpr index side = 8;
    const index n_single = index(single_.size()), width = forest.width();
    const Node* tree = forest.tree(t);
    const std::int32_t* below = groups_.below[t].data();
    const std::uint8_t* missing_left = forest.missing_left(t);
    const double* values = forest.values(t) + value_column_;
    for (index begin = 0; begin < block.rows(); begin += side) {
        const index n = std::min(side, block.rows() - begin);
        std::int32_t at[side] = {}, group[side];
        double start[side];  // the value where the run of the group began
        std::fill_n(group, side, below[0]);
        std::fill_n(start, side, values[0]);
        const auto finish_run = [&](index r) {
            const double value = values[at[r] * width];
            if (group[r] >= n_single && columns[group[r]]) columns[group[r]][begin + r] += value - start[r];
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
                const float x = block.row(begin + r)[node.feature * kBlockRows];
                if constexpr (Missing)
                    at[r] = Forest::is_leaf(tree, m) ? m : node.left + goes_right(node, missing_left[m], x);
                else
                    at[r] = node.left + (x > node.threshold);
                moved |= at[r] != m;
            }
        }
        for (index r = 0; r < n; ++r) finish_run(r);
    }
}

void node_features(const Forest& forest, const std::vector<NodeSums>& outputs, const Table& x, double* out,
                   int n_threads) {
    parallel_for((x.rows + kBlockRows - 1) / kBlockRows, n_threads, [&](index task) {
        const index begin = task * kBlockRows, n = std::min(kBlockRows, x.rows - begin);
        InputBlock block(x.columns);
        block.load(x, {begin, 1, n});
        double* column = out + begin;
        for (const NodeSums& sums : outputs) {
            if (sums.empty()) continue;
            std::fill_n(column, n, sums.constant());
            column += x.rows;
            std::vector<double*> columns;
            for (std::size_t g = 0; g < sums.subspaces().size(); ++g, column += x.rows) {
                std::fill_n(column, n, 0.0);
                columns.push_back(column);
            }
            sums.add(forest, block, columns.data());
        }
    });
}

}  // namespace fasthdmr
