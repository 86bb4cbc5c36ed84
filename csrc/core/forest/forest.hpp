// A fitted ensemble of trees as flat arrays. Immutable.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "support/arrays.hpp"

namespace fasthdmr {

// What a loader hands over, tree after tree; children are numbered within their tree, -1 at leaves.
struct TreeArrays {
    index n_features, n_outputs, n_trees, n_nodes, width;
    const std::int64_t* tree_offsets;  // n_trees + 1
    const std::int64_t* left;
    const std::int64_t* right;
    const std::int64_t* feature;
    const double* threshold;
    const std::uint8_t* missing_left;
    const double* value;              // n_nodes x width; those of inner nodes are ignored
    const std::int64_t* tree_output;  // n_trees; the output a tree of width 1 adds to
    const double* offset;             // n_outputs
    const double* weight = nullptr;   // n_nodes; none: all nodes weigh the same
};

// The comparison rule (scikit-learn's): x is cast to float32 and goes left if x <= threshold in double. For a float32
// x that is the same as comparing with the largest float32 not above the threshold, which is what a node stores.
float largest_float_not_above(double threshold);

// Kernels address the words of nodes, and those of a block of 2^10 rows, by 32-bit offsets.
constexpr index kMostNodes = (index(1) << 31) / 3;
constexpr index kMostFeatures = index(1) << 21;

class Forest {
public:
    explicit Forest(const TreeArrays& arrays);
    // The same trees without offsets, what tree t adds to output k times factors[t * n_outputs + k].
    Forest scaled(const double* factors) const;

    index n_features() const { return n_features_; }
    index n_outputs() const { return n_outputs_; }
    index n_trees() const { return index(tree_begin_.size()) - 1; }
    index n_nodes() const { return index(nodes_.size()); }
    index width() const { return width_; }
    const std::vector<double>& offset() const { return offset_; }
    // For each output, the sum over trees of the largest absolute leaf value; infinite if a leaf is not finite.
    std::vector<double> reach() const;

    index tree_size(index t) const { return tree_begin_[t + 1] - tree_begin_[t]; }
    index tree_begin(index t) const { return tree_begin_[t]; }
    const Node* tree(index t) const { return nodes_.data() + tree_begin_[t]; }
    const std::uint8_t* missing_left(index t) const { return missing_left_.data() + tree_begin_[t]; }
    // Of leaves, as given; an inner node has the mean of its children, weighted by their weights.
    const double* values(index t) const { return values_.data() + tree_begin_[t] * width_; }
    const double* weights(index t) const { return weights_.data() + tree_begin_[t]; }
    int depth(index t) const { return depth_[t]; }
    bool adds_to(index t, index output) const { return width_ > 1 || tree_output_[t] == output; }
    index tree_output(index t) const { return tree_output_[t]; }
    // Column of a leaf's values that belongs to the output.
    index value_column(index output) const { return width_ > 1 ? output : 0; }

    static bool is_leaf(const Node* tree, index m) { return tree[m].left == m; }

private:
    void add_tree(const TreeArrays& arrays, index t);
    void average_upwards(index t);

    index n_features_, n_outputs_, width_;
    std::vector<double> offset_;
    std::vector<index> tree_begin_;
    std::vector<Node> nodes_;  // breadth first within a tree
    std::vector<std::uint8_t> missing_left_;
    std::vector<double> values_;
    std::vector<double> weights_;
    std::vector<std::int32_t> depth_;
    std::vector<index> tree_output_;
};

// Whether x goes to the right child of an inner node.
inline bool goes_right(const Node& node, bool missing_left, float x) {
    return std::isnan(x) ? !missing_left : x > node.threshold;
}

}  // namespace fasthdmr
