#include "features/node_features.hpp"

#include <algorithm>
#include <iterator>

#include "features/leaf_boxes.hpp"
#include "support/parallel.hpp"

namespace fasthdmr {

namespace {

constexpr index kShallowNodes = (2 << kShallowDepth) - 1;  // of a shallow tree

std::vector<std::int32_t> distinct(std::vector<std::int32_t> values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
}

}  // namespace

void NodeSums::prepare(int n_threads) {
    const Forest& forest = preparation_->forest;
    const std::vector<index> trees = trees_of(forest, preparation_->output, preparation_->which);
    groups_ = group_nodes(forest, preparation_->output, preparation_->which);
    value_column_ = forest.value_column(preparation_->output);
    thresholds_ = Thresholds(forest, nodes_to_rank(forest, trees), n_threads);
    std::vector<Candidate> candidates(subspaces().size());
    std::vector<std::int32_t> without_tables;
    for (const index t : trees) {
        poll();
        constant_ += forest.values(t)[value_column_];
        const bool is_deep = forest.depth(t) > kShallowDepth;
        if (is_deep ? !has_few_splits_of_pairs(forest, t) : !can_be_coded(forest, thresholds_, t)) {
            deep_.push_back(t);
            continue;
        }
        (is_deep ? boxed_deep_ : preparation_->shallow).push_back(t);
        std::vector<std::int32_t> touched;
        for (const NodeBox& part : node_boxes(forest, thresholds_, t, value_column_, groups_.below[t])) {
            candidates[part.subspace].boxes.push_back(part.box);
            touched.push_back(part.subspace);
        }
        const std::vector<std::int32_t> others = subspaces_of_many_columns(forest, t, groups_.below[t]);
        without_tables.insert(without_tables.end(), others.begin(), others.end());
        for (const std::int32_t g : distinct(touched)) ++(is_deep ? candidates[g].deep_walks : candidates[g].walks);
    }
    for (const std::int32_t g : distinct(std::move(without_tables))) candidates[g] = {};
    preparation_->offers = offer_tables(thresholds_, std::move(candidates), n_threads);
}

void NodeSums::finish(int) {
    const std::unique_ptr<Preparation> preparation = std::move(preparation_);
    columns_.resize(subspaces().size());
    for (std::size_t g = 0; g < columns_.size(); ++g) columns_[g].tables = std::move(preparation->offers.tables[g]);
    for (const index t : preparation->shallow) {
        poll();
        append_walks(preparation->forest, t);
        std::vector<std::int32_t>().swap(groups_.below[t]);
    }
    thresholds_.forget_nodes();
}

// The terms of a tree in one subspace form a tree: its top, down to the last node of that subspace. For one or two
// nodes the paths to them are cheaper.
void NodeSums::append_walks(const Forest& forest, index t) {
    constexpr std::size_t most_paths = 2;
    const Node* tree = forest.tree(t);
    const std::vector<std::int32_t>& below = groups_.below[t];
    std::vector<std::int32_t> walked, groups;
    for (std::int32_t m = 0; m < forest.tree_size(t); ++m) {
        if (Forest::is_leaf(tree, m) || columns_[below[m]].tables.count() > 0) continue;
        walked.push_back(m);
        groups.push_back(below[m]);
    }
    for (const std::int32_t group : distinct(std::move(groups))) {
        std::vector<std::int32_t> nodes;
        std::copy_if(walked.begin(), walked.end(), std::back_inserter(nodes),
                     [&](std::int32_t m) { return below[m] == group; });
        if (nodes.size() > most_paths) append_top(forest, t, group);
        else append_paths(forest, t, group, nodes);
    }
}

void NodeSums::append_top(const Forest& forest, index t, std::int32_t group) {
    const Node* tree = forest.tree(t);
    const double* values = forest.values(t) + value_column_;
    double sum[kShallowNodes] = {};  // of the terms on the path to each node that belong to the group
    int level[kShallowNodes] = {}, depth = 0;
    for (index m = 0; m < forest.tree_size(t); ++m) {
        if (Forest::is_leaf(tree, m)) continue;
        const bool belongs = groups_.below[t][m] == group;
        for (const index child : {index(tree[m].left), index(tree[m].left) + 1}) {
            level[child] = level[m] + 1;
            sum[child] = sum[m];
            if (belongs) sum[child] += values[child * forest.width()] - values[m * forest.width()];
        }
        if (belongs) depth = std::max(depth, level[m] + 1);
    }
    columns_[group].walked.append(forest, thresholds_, t, depth, sum, 1);
}

void NodeSums::append_paths(const Forest& forest, index t, std::int32_t group, const std::vector<std::int32_t>& nodes) {
    const Node* tree = forest.tree(t);
    const double* values = forest.values(t) + value_column_;
    std::int32_t parent[kShallowNodes] = {};
    for (std::int32_t m = 0; m < forest.tree_size(t); ++m)
        if (!Forest::is_leaf(tree, m)) parent[tree[m].left] = parent[tree[m].left + 1] = m;
    for (const std::int32_t last : nodes) {
        std::vector<std::int32_t> path{last};
        while (path.back() != 0) path.push_back(parent[path.back()]);
        std::reverse(path.begin(), path.end());
        double change[2];
        for (int side = 0; side < 2; ++side)
            change[side] = values[(tree[last].left + side) * forest.width()] - values[last * forest.width()];
        columns_[group].walked.append_path(forest, thresholds_, t, path, change);
    }
}

void NodeSums::fill(const Forest& forest, const std::vector<Part>& parts) const {
    add_columns(columns_, thresholds_, parts, true);
    for (const Part& part : parts) {
        std::vector<double*> without_tables(part.columns, part.columns + columns_.size());
        for (std::size_t g = 0; g < columns_.size(); ++g)
            if (columns_[g].tables.count() > 0) without_tables[g] = nullptr;
        add_deep(forest, boxed_deep_, *part.block, without_tables.data());
        add_deep(forest, deep_, *part.block, part.columns);
    }
}

void NodeSums::add_deep(const Forest& forest, const std::vector<index>& trees, const InputBlock& block,
                        double* const* columns) const {
    index stop = index(columns_.size());  // no column is wanted from here on
    while (stop > 0 && !columns[stop - 1]) --stop;
    if (stop == 0) return;
    const auto walk = block.has_missing() ? &NodeSums::walk_deep<true> : &NodeSums::walk_deep<false>;
    for (const index t : trees) {
        poll();
        (this->*walk)(forest, t, block, columns, stop);
    }
}

// Eight rows descend together, so that their cache misses overlap. On the way down the subspaces grow, and so do their
// numbers. So the terms of one subspace are consecutive, and only the values at both ends of such a run matter.
template <bool Missing>
void NodeSums::walk_deep(const Forest& forest, index t, const InputBlock& block, double* const* columns,
                         index stop) const {
    constexpr index side = 8;
    const index width = forest.width();
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
                const float x = block.row(begin + r)[node.feature * kBlockRows];
                if constexpr (Missing)
                    at[r] = Forest::is_leaf(tree, m) ? m : node.left + goes_right(node, missing_left[m], x);
                else at[r] = node.left + (x > node.threshold);
                moved |= at[r] != m;
            }
        }
        for (index r = 0; r < n; ++r) finish_run(r);
    }
}

NodeFeatures::NodeFeatures(std::shared_ptr<const Forest> given, int n_threads, std::uint64_t table_bytes)
    : Evaluator(std::move(given)) {
    for (index output = 0; output < forest().n_outputs(); ++output)
        if (!trees_of(forest(), output).empty()) outputs_.emplace_back(forest(), output);
    std::vector<NodeSums*> sums;
    for (NodeSums& each : outputs_) sums.push_back(&each);
    lay_out(sums, table_bytes, n_threads);
}

index NodeFeatures::columns() const {
    index count = 0;
    for (const NodeSums& sums : outputs_) count += 1 + index(sums.subspaces().size());
    return count;
}

std::uint64_t NodeFeatures::table_bytes() const {
    std::uint64_t sum = 0;
    for (const NodeSums& sums : outputs_) sum += sums.table_bytes();
    return sum;
}

void NodeFeatures::fill(const std::vector<Part>& parts) const {
    index first = 0;
    for (const NodeSums& sums : outputs_) {
        std::vector<Part> own;
        for (const Part& part : parts) {
            std::fill_n(part.columns[first], part.block->rows(), sums.constant());
            own.push_back({part.block, part.columns + first + 1});
        }
        sums.fill(forest(), own);
        first += 1 + index(sums.subspaces().size());
    }
}

}  // namespace fasthdmr
