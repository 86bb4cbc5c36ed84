#include "loaders/xgboost.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "support/interruption.hpp"

namespace fasthdmr {

namespace {

constexpr index kMostOutputs = 1 << 20;

// xgboost writes the numbers of its parameters as text.
index parameter(const Value& of, std::string_view key) {
    const std::string_view text = of.at(key).text();
    index value = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0)
        throw Error("The model's export is damaged: '" + std::string(key) + "' is no whole number.");
    return value;
}

// The arrays of a tree that are read.
class Fields {
public:
    const Value &left, &right, &feature, &threshold, &default_left;
    const Value *weight, *split_type;  // `weight` is null if a tree with vector leaves has none: weights are then equal
    // The value of a scalar leaf is stored as its threshold. The values of vector leaves are an array by leaf or,
    // before xgboost 3.1, by node.
    const Value *leaf_weights, *node_weights;
    index width;
    std::vector<index> segment_of;  // by node, its number among the nodes that split by categories, or -1

    Fields(const Value& tree, index nodes, index width_)
        : left(tree.array("left_children", nodes)),
          right(tree.array("right_children", nodes)),
          feature(tree.array("split_indices", nodes)),
          threshold(tree.array("split_conditions", nodes)),
          default_left(tree.array("default_left", nodes)),
          weight(width_ == 1 || tree.find("sum_hessian") ? &tree.array("sum_hessian", nodes) : nullptr),
          split_type(tree.find("split_type")),
          leaf_weights(width_ > 1 ? tree.find("leaf_weights") : nullptr),
          node_weights(width_ > 1 && !leaf_weights ? &tree.array("base_weights", nodes * width_) : nullptr),
          width(width_) {
        if (leaf_weights && leaf_weights->size() < (nodes + 1) / 2 * width)
            throw Error("The model's export is damaged: 'leaf_weights' is too short.");
        const Value* by_categories = tree.find("categories_nodes");
        if (!by_categories || by_categories->size() == 0) return;
        segment_of.assign(nodes, -1);
        for (index k = 0; k < by_categories->size(); ++k) {
            const std::int64_t node = by_categories->integer(k);
            if (node < 0 || node >= nodes) throw Error("The model's export is damaged: categories of no node.");
            segment_of[node] = k;
        }
    }

    // In xgboost the categories of a split go right, and all other numbers left. In ReadTrees a set goes left, so the
    // children are exchanged. Numbers are truncated to categories; negative numbers are not categories.
    void split_by_categories(const Value& tree, index node, index at, index left, index right, ReadTrees& trees) const {
        const index k = segment_of.empty() ? -1 : segment_of[node];
        if (k < 0) throw Error("The model's export is damaged: a node without its categories.");
        const Value& all = tree.at("categories");
        const index begin = tree.at("categories_segments").integer(k), size = tree.at("categories_sizes").integer(k);
        if (begin < 0 || size < 0 || begin > all.size() || size > all.size() - begin)
            throw Error("The model's export is damaged: no such categories.");
        trees.split_by_set(at, feature.integer(node), default_left.number(node) == 0.0, right, left);
        for (index c = begin; c < begin + size; ++c) {
            const float category = float(all.integer(c));
            trees.append_interval(category, std::nextafter(category + 1.0f, 0.0f));
        }
    }

    // Rounded to float32, because JSON has decimal numbers and xgboost computes in float32.
    double leaf(index node, index k) const { return double(float(number_of_leaf(node, k))); }

private:
    double number_of_leaf(index node, index k) const {
        if (width == 1) return threshold.number(node);
        if (!leaf_weights) return node_weights->number(node * width + k);
        const std::int64_t leaf = right.integer(node);
        if (leaf < 0 || leaf >= leaf_weights->size() / width)
            throw Error("The model's export is damaged: no such leaf.");
        return leaf_weights->number(leaf * width + k);
    }
};

// Appends the nodes that can be reached from the root, breadth first. Pruned nodes remain in the arrays, but cannot be
// reached.
void append_tree(const Value& tree, index nodes, index width, ReadTrees& trees) {
    const Fields fields(tree, nodes, width);
    std::vector<index> number(nodes, -1), order{0};
    number[0] = 0;
    const auto visit = [&](std::int64_t child) {
        if (child < 1 || child >= nodes || number[child] >= 0)
            throw Error("The model's export is damaged: tree " + std::to_string(trees.n_trees()) + " is no tree.");
        number[child] = index(order.size());
        order.push_back(child);
        return number[child];
    };
    for (index k = 0; k < index(order.size()); ++k) {
        const index node = order[k], at = trees.append();
        trees.weight[at] = fields.weight ? double(float(fields.weight->number(node))) : 1.0;
        if (fields.left.integer(node) == -1) {
            for (index c = 0; c < width; ++c) trees.value[at * width + c] = fields.leaf(node, c);
            continue;
        }
        const std::int64_t feature = fields.feature.integer(node);
        const float below =
            std::nextafter(float(fields.threshold.number(node)), -std::numeric_limits<float>::infinity());
        const index left = visit(fields.left.integer(node)), right = visit(fields.right.integer(node));
        if (fields.split_type && fields.split_type->integer(node) != 0)
            fields.split_by_categories(tree, node, at, left, right, trees);
        else trees.split(at, feature, double(below), fields.default_left.number(node) != 0.0, left, right);
    }
    trees.finish_tree();
}

}  // namespace

ReadTrees read_xgboost_trees(const Value& model) {
    ReadTrees trees;
    const Value& all = model.at("trees");
    for (index t = 0; t < all.size(); ++t) {
        poll();
        const Value& tree = all.at(t);
        const Value& parameters = tree.at("tree_param");
        const index nodes = parameter(parameters, "num_nodes");
        const index width = std::max<index>(1, parameter(parameters, "size_leaf_vector"));
        if (nodes < 1 || nodes != tree.at("left_children").size() || width > kMostOutputs)
            throw Error("The model's export is damaged: tree " + std::to_string(t) + " has no nodes.");
        if (t == 0) trees.width = width;
        if (width != trees.width)
            throw Error(
                "The trees of this xgboost model have leaves of different lengths, which are not read. Fit one "
                "model with one multi_strategy.");
        append_tree(tree, nodes, width, trees);
    }
    return trees;
}

}  // namespace fasthdmr
