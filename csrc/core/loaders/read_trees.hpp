// The result of a reader: those arrays of `TreeArrays` that the trees alone determine.
#pragma once

#include <cstdint>
#include <vector>

#include "support/arrays.hpp"

namespace fasthdmr {

struct ReadTrees {
    index width = 1;  // number of values of a leaf
    std::vector<std::int64_t> tree_offsets{0}, left, right, feature;
    std::vector<double> threshold, value, weight;
    std::vector<std::uint8_t> missing_left;
    // By node the number of the set of values that goes left, or -1; empty before the first split by a set. A set is a
    // union of closed intervals.
    std::vector<std::int64_t> category_set, set_offsets{0};
    std::vector<double> intervals;

    index n_trees() const { return index(tree_offsets.size()) - 1; }
    index n_nodes() const { return index(left.size()); }
    // Nodes of the current tree.
    index size() const { return n_nodes() - tree_offsets.back(); }

    // Reserves memory for the nodes of an export of so many bytes. Memory that is not used costs nothing.
    void reserve_for(std::size_t bytes) {
        constexpr std::size_t bytes_of_node = 50;  // or more, in the exports of all libraries
        const std::size_t nodes = bytes / bytes_of_node;
        for (auto* const numbers : {&left, &right, &feature, &category_set}) numbers->reserve(nodes);
        for (auto* const numbers : {&threshold, &value, &weight}) numbers->reserve(nodes);
        missing_left.reserve(nodes);
    }

    // Appends leaves of weight 0 and value 0, and returns the number of the first one.
    index append(index count = 1) {
        const index first = n_nodes(), all = first + count;
        left.resize(all, -1);
        right.resize(all, -1);
        feature.resize(all, 0);
        threshold.resize(all, 0.0);
        missing_left.resize(all, 0);
        if (!category_set.empty()) category_set.resize(all, -1);
        weight.resize(all, 0.0);
        value.resize(all * width, 0.0);
        return first;
    }
    // Turns a leaf into an inner node. Its children, numbered within the tree, may be appended later.
    void split(index node, std::int64_t feature_, double threshold_, bool missing_left_, index left_, index right_) {
        feature[node] = feature_;
        threshold[node] = threshold_;
        missing_left[node] = missing_left_;
        left[node] = left_;
        right[node] = right_;
    }
    // The same, where values in the intervals that are appended next go left, and all others right.
    void split_by_set(index node, std::int64_t feature_, bool missing_left_, index left_, index right_) {
        split(node, feature_, 0.0, missing_left_, left_, right_);
        category_set.resize(n_nodes(), -1);
        category_set[node] = index(set_offsets.size()) - 1;
        set_offsets.push_back(set_offsets.back());
    }
    void append_interval(double low, double high) {
        intervals.push_back(low);
        intervals.push_back(high);
        ++set_offsets.back();
    }
    void finish_tree() { tree_offsets.push_back(n_nodes()); }
};

}  // namespace fasthdmr
