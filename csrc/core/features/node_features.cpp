#include "features/node_features.hpp"

#include <algorithm>
#include <iterator>

#include "features/deep_nodes.hpp"
#include "features/leaf_boxes.hpp"
#include "support/parallel.hpp"

namespace fasthdmr {

namespace {

constexpr index kShallowNodes = (2 << kShallowDepth) - 1;  // most nodes of a shallow tree

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
    std::vector<std::int32_t> without_tables, touched;
    std::vector<NodeBox> boxes;
    NodePolls polls;
    for (const index t : trees) {
        polls.add(forest.tree_size(t));
        constant_ += forest.values(t)[value_column_];
        const bool is_deep = forest.depth(t) > kShallowDepth;
        if (is_deep ? !has_few_splits_of_pairs(forest, t) : !can_be_coded(forest, thresholds_, t)) {
            deep_.push_back(t);
            continue;
        }
        (is_deep ? boxed_deep_ : preparation_->shallow).push_back(t);
        touched.clear();
        boxes.clear();
        append_node_boxes(forest, thresholds_, t, value_column_, groups_.below[t], boxes);
        for (const NodeBox& part : boxes) {
            if (subspaces()[part.subspace].size() > 2) continue;  // two variables that joined a third
            candidates[part.subspace].boxes.push_back(part.box);
            touched.push_back(part.subspace);
        }
        const std::vector<std::int32_t> others = subspaces_of_many_columns(forest, t, groups_.below[t]);
        without_tables.insert(without_tables.end(), others.begin(), others.end());
        for (const std::int32_t g : distinct(touched))
            ++(is_deep ? candidates[g].deep_trees : candidates[g].shallow_trees);
    }
    for (const std::int32_t g : distinct(std::move(without_tables))) candidates[g] = {};
    preparation_->candidate_tables = lay_out_tables(thresholds_, std::move(candidates), n_threads);
}

void NodeSums::finish(int) {
    const std::unique_ptr<Preparation> preparation = std::move(preparation_);
    columns_.resize(subspaces().size());
    for (std::size_t g = 0; g < columns_.size(); ++g)
        columns_[g].tables = std::move(preparation->candidate_tables.tables[g]);
    NodePolls polls;
    for (const index t : preparation->shallow) {
        polls.add(preparation->forest.tree_size(t));
        append_shallow(preparation->forest, t);
        std::vector<std::int32_t>().swap(groups_.below[t]);
    }
    deep_sets_ = sets_of(preparation->forest, deep_);
    const std::vector<index> boxed = sets_of(preparation->forest, boxed_deep_);
    deep_sets_.insert(deep_sets_.end(), boxed.begin(), boxed.end());
    thresholds_.forget_nodes();
}

// Appends the terms of a shallow tree to the columns without tables. Those of one subspace form a tree: the top of the
// original tree, down to the last node of that subspace. If there are one or two nodes, the paths to them are cheaper.
void NodeSums::append_shallow(const Forest& forest, index t) {
    constexpr std::size_t most_paths = 2;
    const Node* tree = forest.tree(t);
    const std::vector<std::int32_t>& below = groups_.below[t];
    std::vector<std::int32_t> rest, groups;
    for (std::int32_t m = 0; m < forest.tree_size(t); ++m) {
        if (Forest::is_leaf(tree, m) || columns_[below[m]].tables.count() > 0) continue;
        rest.push_back(m);
        groups.push_back(below[m]);
    }
    for (const std::int32_t group : distinct(std::move(groups))) {
        std::vector<std::int32_t> nodes;
        std::copy_if(rest.begin(), rest.end(), std::back_inserter(nodes),
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
    columns_[group].trees.append(forest, thresholds_, t, depth, sum, 1);
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
        for (int right = 0; right < 2; ++right)
            change[right] = values[(tree[last].left + right) * forest.width()] - values[last * forest.width()];
        columns_[group].paths.append(forest, thresholds_, t, path, change);
    }
}

void NodeSums::fill(const Forest& forest, const std::vector<Part>& parts) const {
    add_columns(columns_, thresholds_, parts, true);
    for (const Part& part : parts) {
        part.block->need_sets(deep_sets_);
        std::vector<double*> untabulated(part.columns, part.columns + columns_.size());
        for (std::size_t g = 0; g < columns_.size(); ++g)
            if (columns_[g].tables.count() > 0) untabulated[g] = nullptr;
        add_deep(forest, boxed_deep_, *part.block, untabulated.data());
        add_deep(forest, deep_, *part.block, part.columns);
    }
}

void NodeSums::add_deep(const Forest& forest, const std::vector<index>& trees, const InputBlock& block,
                        double* const* columns) const {
    index stop = index(columns_.size());  // columns from here on are not computed
    while (stop > 0 && !columns[stop - 1]) --stop;
    if (stop == 0) return;
    for (const index t : trees) {
        poll();
        add_node_terms({forest, t, value_column_, groups_.below[t].data()}, block, columns, stop);
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
