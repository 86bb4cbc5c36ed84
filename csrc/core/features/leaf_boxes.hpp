// Trees as sums of boxes: products of rank intervals of at most two variables, each with a value.
#pragma once

#include <vector>

#include "forest/quantiser.hpp"
#include "support/subspace.hpp"

namespace fasthdmr {

struct Box {
    struct Side {
        std::int32_t variable;
        std::int32_t low, high;  // low <= rank < high
        bool missing;            // whether a missing value belongs to it too
    };
    Side side[2];  // the variables rising
    std::int32_t sides = 0;
    double value = 0.0;
};

// Of a deep tree, nodes whose path uses at most two variables become boxes. A tree with more than kMostSplits of them
// is traversed instead.
constexpr index kMostSplits = 511;
bool has_few_splits_of_pairs(const Forest& forest, index tree);

// The inner nodes whose thresholds need ranks, numbered through the whole forest: all nodes of shallow trees, and the
// nodes of deep trees that become boxes.
std::vector<std::int32_t> nodes_to_rank(const Forest& forest, const std::vector<index>& trees);

// The leaves of a tree as boxes; false, and nothing appended, if some leaf needs more than two variables.
bool append_leaf_boxes(const Forest& forest, const Thresholds& thresholds, index tree, index value_column,
                       std::vector<Box>& boxes);

// The nodes that at most two variables lead to, each with the difference from its parent's value, and the number of the
// subspace of those variables; `below` as in NodeGroups.
struct NodeBox {
    std::int32_t subspace;
    Box box;
};
std::vector<NodeBox> node_boxes(const Forest& forest, const Thresholds& thresholds, index tree, index value_column,
                                const std::vector<std::int32_t>& below);

// The subspaces of nodes that are no such box though they may have few variables: these have several columns.
std::vector<std::int32_t> subspaces_of_many_columns(const Forest& forest, index tree,
                                                    const std::vector<std::int32_t>& below);

}  // namespace fasthdmr
