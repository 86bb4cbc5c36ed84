#include "features/leaf_boxes.hpp"

#include <algorithm>
#include <utility>

#include "support/interruption.hpp"

namespace fasthdmr {

namespace {

struct Visit {
    index node;
    Box box;
};

// Divides a box at a split into the boxes of both children; false if that needs a third variable.
bool divide(const Forest& forest, const Thresholds& thresholds, index tree, const Visit& at, Visit (&children)[2]) {
    const Node& node = forest.tree(tree)[at.node];
    const bool missing_left = forest.missing_left(tree)[at.node];
    Box box = at.box;
    int s = 0;
    while (s < box.order && box.interval[s].variable != node.feature) ++s;
    if (s == 2) return false;
    if (s == box.order) {
        box.interval[s] = {node.feature, 0, thresholds.count(node.feature) + 1, true};
        if (++box.order == 2 && box.interval[0].variable > box.interval[1].variable) {
            std::swap(box.interval[0], box.interval[1]);
            s = 0;
        }
    }
    const std::int32_t split = thresholds.rank(forest, tree, at.node) + 1;
    for (int right = 0; right < 2; ++right) {
        children[right] = {node.left + right, box};
        Box::Interval& interval = children[right].box.interval[s];
        if (right) interval.low = std::max(interval.low, split);
        else interval.high = std::min(interval.high, split);
        interval.missing &= missing_left != bool(right);
    }
    return true;
}

bool is_empty(const Box& box) {
    for (int s = 0; s < box.order; ++s)
        if (box.interval[s].low >= box.interval[s].high && !box.interval[s].missing) return true;
    return false;
}

void append_inner_nodes(const Forest& forest, index tree, std::vector<std::int32_t>& nodes) {
    for (index m = 0; m < forest.tree_size(tree); ++m)
        if (!Forest::is_leaf(forest.tree(tree), m)) nodes.push_back(std::int32_t(forest.tree_begin(tree) + m));
}

// Appends the inner nodes whose path, with their own variable, uses at most two variables. Appends nothing if there are
// more than kMostSplits.
void append_nodes_of_pairs(const Forest& forest, index tree, std::vector<std::int32_t>& nodes) {
    const std::size_t before = nodes.size();
    struct Path {
        index node;
        std::int32_t a, b;  // variables so far; -1: none
    };
    const Node* all = forest.tree(tree);
    std::vector<Path> stack{{0, -1, -1}};
    while (!stack.empty()) {
        Path path = stack.back();
        stack.pop_back();
        if (Forest::is_leaf(all, path.node)) continue;
        const std::int32_t variable = all[path.node].feature;
        if (path.a < 0) path.a = variable;
        else if (variable != path.a && path.b < 0) path.b = variable;
        else if (variable != path.a && variable != path.b) continue;
        nodes.push_back(std::int32_t(forest.tree_begin(tree) + path.node));
        for (const int right : {1, 0}) stack.push_back({all[path.node].left + right, path.a, path.b});
        if (index(nodes.size() - before) > kMostSplits) return nodes.resize(before);
    }
}

}  // namespace

bool has_few_splits_of_pairs(const Forest& forest, index tree) {
    std::vector<std::int32_t> nodes;
    append_nodes_of_pairs(forest, tree, nodes);
    return !nodes.empty();
}

std::vector<std::int32_t> nodes_to_rank(const Forest& forest, const std::vector<index>& trees) {
    std::vector<std::int32_t> nodes;
    NodePolls polls;
    for (const index t : trees) {
        polls.add(forest.tree_size(t));
        if (forest.depth(t) > kShallowDepth) append_nodes_of_pairs(forest, t, nodes);
        else append_inner_nodes(forest, t, nodes);
    }
    return nodes;
}

bool append_leaf_boxes(const Forest& forest, const Thresholds& thresholds, index tree, index value_column,
                       std::vector<Box>& boxes) {
    if (forest.depth(tree) > kShallowDepth && !has_few_splits_of_pairs(forest, tree)) return false;
    const std::size_t before = boxes.size();
    std::vector<Visit> stack;
    stack.reserve(kShallowDepth + 1);
    stack.push_back({0, {}});
    while (!stack.empty()) {
        Visit at = stack.back(), children[2];
        stack.pop_back();
        if (is_empty(at.box)) continue;
        if (Forest::is_leaf(forest.tree(tree), at.node)) {
            at.box.value = forest.values(tree)[at.node * forest.width() + value_column];
            boxes.push_back(at.box);
        } else if (divide(forest, thresholds, tree, at, children)) {
            stack.push_back(children[1]);
            stack.push_back(children[0]);
        } else {
            boxes.resize(before);
            return false;
        }
    }
    return true;
}

void append_node_boxes(const Forest& forest, const Thresholds& thresholds, index tree, index value_column,
                       const std::vector<std::int32_t>& below, std::vector<NodeBox>& boxes) {
    const auto value = [&](index m) { return forest.values(tree)[m * forest.width() + value_column]; };
    std::vector<Visit> stack;
    stack.reserve(kShallowDepth + 1);
    stack.push_back({0, {}});
    while (!stack.empty()) {
        Visit at = stack.back(), children[2];
        stack.pop_back();
        if (Forest::is_leaf(forest.tree(tree), at.node) || !divide(forest, thresholds, tree, at, children)) continue;
        for (const int right : {1, 0}) {
            Visit& child = children[right];
            if (is_empty(child.box)) continue;
            child.box.value = value(child.node) - value(at.node);
            boxes.push_back({below[at.node], child.box});
            stack.push_back(child);
        }
    }
}

std::vector<std::int32_t> subspaces_of_many_columns(const Forest& forest, index tree,
                                                    const std::vector<std::int32_t>& below) {
    std::vector<std::int32_t> found;
    if (forest.comparison()->has_a_variable_by_column()) return found;
    const Node* all = forest.tree(tree);
    std::vector<Subspace> columns(forest.tree_size(tree));  // on the path to each node
    for (index m = 0; m < forest.tree_size(tree); ++m) {
        if (Forest::is_leaf(all, m)) continue;
        Subspace& u = columns[m];
        if (std::find(u.begin(), u.end(), all[m].feature) == u.end()) u.push_back(all[m].feature);
        if (u.size() > 2) found.push_back(below[m]);
        columns[all[m].left] = columns[all[m].left + 1] = u;
    }
    return found;
}

}  // namespace fasthdmr
