// Trees as sums of boxes: products of rank intervals of at most two variables, each with a value.
#pragma once

#include <vector>

#include "forest/quantiser.hpp"
#include "support/subspace.hpp"

namespace fasthdmr {

// A value on a product of intervals of ranks, one for each of at most two variables.
struct Box {
    struct Interval {
        std::int32_t variable;
        std::int32_t low, high;  // low <= rank < high
        bool missing;            // whether missing values are included
    };
    Interval interval[2];    // sorted by variable
    std::int32_t order = 0;  // the number of intervals
    double value = 0.0;
};

// Of a deep tree, nodes whose path uses at most two variables become boxes. A tree with more than kMostSplits of them
// is traversed instead.
constexpr index kMostSplits = 511;
bool has_few_splits_of_pairs(const Forest& forest, index tree);

// The inner nodes whose thresholds need ranks, numbered through the whole forest: all nodes of shallow trees, and the
// nodes of deep trees that become boxes.
std::vector<std::int32_t> nodes_to_rank(const Forest& forest, const std::vector<index>& trees);

// Appends the leaves of a tree as boxes. If some leaf needs more than two variables, appends nothing and returns false.
bool append_leaf_boxes(const Forest& forest, const Thresholds& thresholds, index tree, index value_column,
                       std::vector<Box>& boxes);

// A node whose path uses at most two variables, with the difference from its parent's value and the number of the
// subspace of its path.
struct NodeBox {
    std::int32_t subspace;
    Box box;
};
// Appends these nodes of a tree; `below` as in NodeGroups.
void append_node_boxes(const Forest& forest, const Thresholds& thresholds, index tree, index value_column,
                       const std::vector<std::int32_t>& below, std::vector<NodeBox>& boxes);

// The subspaces of nodes whose path uses more than two columns of the comparison. Such nodes are not boxes, even if
// their path uses few variables: a variable has several columns if it is split by sets of values.
std::vector<std::int32_t> subspaces_of_many_columns(const Forest& forest, index tree,
                                                    const std::vector<std::int32_t>& below);

}  // namespace fasthdmr
