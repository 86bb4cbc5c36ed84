// A fitted ensemble of trees, stored as flat arrays. It is immutable.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "forest/comparison.hpp"
#include "support/arrays.hpp"

namespace fasthdmr {

// The arrays that a loader passes, tree after tree. Children are numbered within their tree; leaves have -1.
struct TreeArrays {
    index n_features, n_outputs, n_trees, n_nodes, width;
    const std::int64_t* tree_offsets;  // n_trees + 1
    const std::int64_t* left;
    const std::int64_t* right;
    const std::int64_t* feature;
    const double* threshold;
    const std::uint8_t* missing_left;
    const double* value;              // n_nodes x width; values of inner nodes are ignored
    const std::int64_t* tree_output;  // n_trees; the output that a tree of width 1 adds to
    const double* offset;             // n_outputs
    const double* weight = nullptr;   // n_nodes; null: equal weights
    // How values are compared; null: in float32.
    std::shared_ptr<const Comparison> comparison = nullptr;
    // n_nodes; the number of the comparison's set whose values go left, or -1: a threshold. Null: all -1.
    const std::int64_t* set = nullptr;
    // n_nodes; the comparison's codes of the thresholds. Null: they are looked up.
    const float* code = nullptr;
};

// Kernels address the three words of each node, and the numbers of a block of 2^10 rows, by 32-bit offsets.
constexpr index kMostNodes = (index(1) << 31) / 3;
constexpr index kMostFeatures = index(1) << 21;

class Forest {
public:
    explicit Forest(const TreeArrays& arrays);
    // The same trees without offsets. What tree t adds to output k is multiplied by factors[t * n_outputs + k].
    Forest scaled(const double* factors) const;
    // The same trees with another comparison, which must contain all their thresholds and sets (`one_comparison`).
    Forest compared_by(std::shared_ptr<const Comparison> comparison) const;

    // The same trees, with feature j in column first + j of the input, as a function of variables[j] (comparison.hpp).
    Forest of_variables(std::vector<std::int32_t> variables, index first) const;

    index n_features() const { return n_features_; }
    index input_columns() const { return comparison_->input_columns(); }
    // Node::feature is a column of the comparison, which is a function of one variable.
    index columns() const { return comparison_->columns(); }
    std::int32_t variable(const Node& node) const { return comparison_->variable(node.feature); }
    index n_outputs() const { return n_outputs_; }
    index n_trees() const { return index(tree_begin_.size()) - 1; }
    index n_nodes() const { return index(nodes_.size()); }
    index width() const { return width_; }
    const std::shared_ptr<const Comparison>& comparison() const { return comparison_; }
    const std::vector<double>& offset() const { return offset_; }
    // For each output, the sum over trees of the largest absolute leaf value; infinite if a leaf is not finite.
    std::vector<double> reach() const;

    index tree_size(index t) const { return tree_begin_[t + 1] - tree_begin_[t]; }
    index tree_begin(index t) const { return tree_begin_[t]; }
    const Node* tree(index t) const { return nodes_.data() + tree_begin_[t]; }
    const std::uint8_t* missing_left(index t) const { return missing_left_.data() + tree_begin_[t]; }
    // By node. The value of an inner node is the weighted mean of its children.
    const double* values(index t) const { return values_.data() + tree_begin_[t] * width_; }
    const double* weights(index t) const { return weights_.data() + tree_begin_[t]; }
    int depth(index t) const { return depth_[t]; }
    bool adds_to(index t, index output) const { return width_ > 1 || tree_output_[t] == output; }
    index tree_output(index t) const { return tree_output_[t]; }
    // The column of a leaf's values that belongs to an output.
    index value_column(index output) const { return width_ > 1 ? output : 0; }

    static bool is_leaf(const Node* tree, index m) { return tree[m].left == m; }

private:
    struct Walk;
    void add_tree(const TreeArrays& arrays, index t, Walk& walk);
    Node split(const TreeArrays& arrays, index t, index m, index left) const;
    void average_upwards(index t);

    index n_features_, n_outputs_, width_;
    std::shared_ptr<const Comparison> comparison_;
    std::vector<double> offset_;
    std::vector<index> tree_begin_;
    std::vector<Node> nodes_;  // depth first within a tree
    std::vector<std::uint8_t> missing_left_;
    std::vector<double> values_;
    std::vector<double> weights_;
    std::vector<std::int32_t> depth_;
    std::vector<index> tree_output_;
};

// The threshold of an inner node as float64, such that x > threshold in float64 if and only if x goes right. The node
// must not split by a set.
double threshold_of(const Forest& forest, const Node& node);

// A common comparison for forests that are evaluated together. Null if there is none, because the forests treat
// different values as missing.
std::shared_ptr<const Comparison> one_comparison(const std::vector<std::shared_ptr<const Forest>>& forests);

// Whether a row goes to the right child of an inner node; x is the code of its value (comparison.hpp).
inline bool goes_right(const Node& node, bool missing_left, float x) {
    return std::isnan(x) ? !missing_left : x > node.threshold;
}

}  // namespace fasthdmr
