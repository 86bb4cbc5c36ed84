#include "loaders/xgboost.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <memory>

#include "support/neighbour.hpp"

namespace fasthdmr {

namespace {

constexpr index kMostOutputs = 1 << 20;

// The members of a tree in all versions up to 3.4.
constexpr std::string_view kMembers[] = {
    "base_weights", "categories",  "categories_nodes",  "categories_segments", "categories_sizes",
    "default_left", "id",          "leaf_child_counts", "leaf_weights",        "left_children",
    "loss_changes", "parents",     "right_children",    "split_conditions",    "split_indices",
    "split_type",   "sum_hessian", "tree_param"};

// Predictions may depend on members that are not known.
void refuse_unknown_members(const Value& tree) {
    for (index k = 0; k < tree.size(); ++k)
        if (const auto name = tree.at(k).name();
            std::find(std::begin(kMembers), std::end(kMembers), name) == std::end(kMembers))
            throw Error("The trees of this xgboost model have parts that fasthdmr does not know: '" +
                        std::string(name) +
                        "'. Perhaps a newer version of xgboost wrote it: update fasthdmr, or use fasthdmr.HDMR.");
}

// xgboost writes the numbers of its parameters as text.
index parameter(const Value& of, std::string_view key) {
    const std::string_view text = of.at(key).text();
    index value = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0)
        throw Error("The model's export is damaged: '" + std::string(key) + "' is no whole number.");
    return value;
}

// The arrays of a tree that are read, by node. Their memory is reused from tree to tree.
class Fields {
public:
    std::vector<std::int64_t> left, right, feature;
    std::vector<double> threshold, default_left;
    std::vector<double> weight;            // empty if a tree with vector leaves has none: weights are then equal
    std::vector<std::int64_t> split_type;  // empty if no split is by categories

    void read(const Value& tree, index nodes, index width) {
        tree.array(left_children_, nodes).integers(left);
        tree.array(right_children_, nodes).integers(right);
        tree.array(split_indices_, nodes).integers(feature);
        tree.array(split_conditions_, nodes).numbers(threshold);
        tree.array(default_left_, nodes).numbers(default_left);
        weight.clear();
        split_type.clear();
        // Trees with vector leaves may have no weights.
        if (width == 1 || tree.find(sum_hessian_)) tree.array(sum_hessian_, nodes).numbers(weight);
        if (tree.find(split_type_)) tree.array(split_type_, nodes).integers(split_type);
        width_ = width;
        read_leaves(tree, nodes);
        read_segments(tree, nodes);
    }

    // In xgboost the categories of a split go right, and all other numbers left. In ReadTrees a set goes left, so the
    // children are exchanged. Numbers are truncated to categories; negative numbers are not categories.
    void split_by_categories(index node, index at, index left_at, index right_at, ReadTrees& trees) {
        const index k = segment_of_.empty() ? -1 : segment_of_[node];
        if (k < 0) throw Error("The model's export is damaged: a node without its categories.");
        const std::int64_t begin = segment_begin_[k], size = segment_size_[k], n = index(category_.size());
        if (begin < 0 || size < 0 || begin > n || size > n - begin)
            throw Error("The model's export is damaged: no such categories.");
        // Each split has a segment of its own. If they overlapped, a small file could need much memory.
        categories_left_ -= size;
        if (categories_left_ < 0) throw Error("The model's export is damaged: splits share categories.");
        trees.split_by_set(at, feature[node], default_left[node] == 0.0, right_at, left_at);
        for (index c = begin; c < begin + size; ++c) {
            const std::int64_t first = category_[c];
            const index start = c;  // of consecutive categories, which are one interval
            while (c + 1 < begin + size && category_[c + 1] == category_[c] + 1) ++c;
            trees.append_interval(float(first), neighbour(float(first + c - start) + 1.0f, -1));
        }
    }

    // Rounded to float32, because JSON has decimal numbers and xgboost computes in float32.
    double leaf(index node, index k) const {
        if (width_ == 1) return double(float(threshold[node]));
        if (!leaf_weights_) return double(float(node_weights_->number(node * width_ + k)));
        const std::int64_t leaf = right[node];
        if (leaf < 0 || leaf >= leaf_weights_->size() / width_)
            throw Error("The model's export is damaged: no such leaf.");
        return double(float(leaf_weights_->number(leaf * width_ + k)));
    }

private:
    // The value of a scalar leaf is stored as its threshold. The values of vector leaves are an array by leaf or,
    // before xgboost 3.1, by node.
    void read_leaves(const Value& tree, index nodes) {
        leaf_weights_ = width_ > 1 ? tree.find("leaf_weights") : nullptr;
        node_weights_ = width_ > 1 && !leaf_weights_ ? &tree.array("base_weights", nodes * width_) : nullptr;
        if (leaf_weights_ && leaf_weights_->size() < (nodes + 1) / 2 * width_)
            throw Error("The model's export is damaged: 'leaf_weights' is too short.");
    }

    void read_segments(const Value& tree, index nodes) {
        segment_of_.clear();
        const Value* by_categories = tree.find(categories_nodes_);
        if (!by_categories || by_categories->size() == 0) return;
        segment_of_.assign(nodes, -1);
        tree.at(categories_).integers(category_);
        categories_left_ = index(category_.size());
        tree.array(categories_segments_, by_categories->size()).integers(segment_begin_);
        tree.array(categories_sizes_, by_categories->size()).integers(segment_size_);
        for (index k = 0; k < by_categories->size(); ++k) {
            const std::int64_t node = by_categories->integer(k);
            if (node < 0 || node >= nodes) throw Error("The model's export is damaged: categories of no node.");
            segment_of_[node] = k;
        }
    }

    Key left_children_{"left_children"}, right_children_{"right_children"}, split_indices_{"split_indices"},
        split_conditions_{"split_conditions"}, default_left_{"default_left"}, sum_hessian_{"sum_hessian"},
        split_type_{"split_type"}, categories_{"categories"}, categories_nodes_{"categories_nodes"},
        categories_segments_{"categories_segments"}, categories_sizes_{"categories_sizes"};
    index width_ = 1;
    const Value *leaf_weights_ = nullptr, *node_weights_ = nullptr;
    std::vector<std::int64_t> category_, segment_begin_, segment_size_;
    index categories_left_ = 0;      // that no split has used
    std::vector<index> segment_of_;  // by node, its number among the nodes that split by categories, or -1
};

// In float32, x < t is the same as x <= the next smaller number than t.
float number_before(double threshold) {
    const auto number = float(threshold);
    return number > -std::numeric_limits<float>::infinity() ? neighbour(number, -1) : number;
}

class Reader {
public:
    explicit Reader(ReadTrees& trees) : trees_(trees) {}

    // Appends the nodes that can be reached from the root, breadth first. Pruned nodes remain in the arrays, but cannot
    // be reached.
    void append(const Value& tree) {
        const index nodes = check_sizes(tree);
        fields_.read(tree, nodes, trees_.width);
        number_.assign(nodes, -1);
        number_[0] = 0;
        order_.assign(1, 0);
        for (std::size_t k = 0; k < order_.size(); ++k)
            if (const std::int64_t left = fields_.left[order_[k]]; left != -1) {
                visit(left);
                visit(fields_.right[order_[k]]);
            }
        const index first = trees_.append(index(order_.size()));
        for (std::size_t k = 0; k < order_.size(); ++k) write(order_[k], first + index(k));
        trees_.finish_tree();
    }

private:
    // Returns the number of nodes.
    index check_sizes(const Value& tree) {
        const Value& parameters = tree.at("tree_param");
        const index nodes = parameter(parameters, "num_nodes"), t = trees_.n_trees();
        const index width = std::max<index>(1, parameter(parameters, "size_leaf_vector"));
        if (nodes < 1 || nodes != tree.at("left_children").size() || width > kMostOutputs)
            throw Error("The model's export is damaged: tree " + std::to_string(t) + " has no nodes.");
        if (t == 0) {
            refuse_unknown_members(tree);  // those of the first tree: all have the same
            trees_.width = width;
        }
        if (width != trees_.width)
            throw Error(
                "The trees of this xgboost model have leaves of different lengths, which are not read. Fit one "
                "model with one multi_strategy.");
        return nodes;
    }

    void visit(std::int64_t child) {
        if (child < 1 || child >= index(number_.size()) || number_[child] >= 0)
            throw Error("The model's export is damaged: tree " + std::to_string(trees_.n_trees()) + " is no tree.");
        number_[child] = index(order_.size());
        order_.push_back(child);
    }

    void write(index node, index at) {
        trees_.weight[at] = fields_.weight.empty() ? 1.0 : double(float(fields_.weight[node]));
        if (fields_.left[node] == -1) {
            for (index c = 0; c < trees_.width; ++c) trees_.value[at * trees_.width + c] = fields_.leaf(node, c);
            return;
        }
        const index left = number_[fields_.left[node]], right = number_[fields_.right[node]];
        if (!fields_.split_type.empty() && fields_.split_type[node] != 0)
            fields_.split_by_categories(node, at, left, right, trees_);
        else
            trees_.split(at, fields_.feature[node], double(number_before(fields_.threshold[node])),
                         fields_.default_left[node] != 0.0, left, right);
    }

    ReadTrees& trees_;
    Fields fields_;
    std::vector<index> number_, order_;
};

}  // namespace

std::function<void(const Value&)> reader_of_xgboost(ReadTrees& trees) {
    const auto reader = std::make_shared<Reader>(trees);
    return [reader](const Value& tree) { reader->append(tree); };
}

}  // namespace fasthdmr
