#include "forest/forest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "forest/rounding.hpp"
#include "support/interruption.hpp"

namespace fasthdmr {

namespace {

std::string where(index t, index m) { return "tree " + std::to_string(t) + ", node " + std::to_string(m) + ": "; }

}  // namespace

// Nodes in their new order and their levels, places in this order (last in, first out), and which nodes were visited.
// The memory is reused from tree to tree.
struct Forest::Walk {
    std::vector<index> order, unfinished;
    std::vector<std::int32_t> level;
    std::vector<char> seen;
};

Forest::Forest(const TreeArrays& a) : n_features_(a.n_features), n_outputs_(a.n_outputs), width_(a.width) {
    if (a.n_features < 1 || a.n_outputs < 1) throw Error("a forest needs at least one feature and one output");
    if (a.n_features > kMostFeatures) throw Error("too many features: " + std::to_string(a.n_features));
    if (a.width != 1 && a.width != a.n_outputs) throw Error("leaf values must have 1 or n_outputs columns");
    if (a.n_nodes > kMostNodes) throw Error("too many nodes: " + std::to_string(a.n_nodes));
    if (a.tree_offsets[0] != 0 || a.tree_offsets[a.n_trees] != a.n_nodes)
        throw Error("tree offsets must span the nodes");
    for (index t = 0; t < a.n_trees; ++t)
        if (a.tree_offsets[t] >= a.tree_offsets[t + 1] || a.tree_offsets[t + 1] > a.n_nodes)
            throw Error("tree " + std::to_string(t) + ": no nodes");
    comparison_ = a.comparison ? a.comparison : std::make_shared<const Comparison>(a.n_features);
    if (columns() > kMostFeatures) throw Error("too many sets of categories: " + std::to_string(columns()));
    if (comparison_->n_features() != a.n_features) throw Error("the comparison has another number of features");
    offset_.assign(a.offset, a.offset + a.n_outputs);
    tree_begin_.reserve(a.n_trees + 1);
    tree_begin_.push_back(0);
    nodes_.resize(a.n_nodes);
    missing_left_.resize(a.n_nodes);
    values_.resize(a.n_nodes * a.width);
    weights_.resize(a.n_nodes);
    depth_.reserve(a.n_trees);
    tree_output_.reserve(a.n_trees);
    Walk walk;
    NodePolls polls;
    for (index t = 0; t < a.n_trees; ++t) {
        polls.add(a.tree_offsets[t + 1] - a.tree_offsets[t]);
        add_tree(a, t, walk);
        average_upwards(t);
    }
}

// Numbers the nodes depth first, siblings as neighbours, and the heavier sibling's descendants next. A row then finds most
// nodes of its path in few cache lines. Every node must be reached exactly once.
void Forest::add_tree(const TreeArrays& a, index t, Walk& walk) {
    const index begin = a.tree_offsets[t], size = a.tree_offsets[t + 1] - begin;
    if (a.width == 1 && (a.tree_output[t] < 0 || a.tree_output[t] >= a.n_outputs))
        throw Error("tree " + std::to_string(t) + ": no such output: " + std::to_string(a.tree_output[t]));

    std::vector<index>&order = walk.order, &unfinished = walk.unfinished;
    std::vector<std::int32_t>& level = walk.level;
    std::vector<char>& seen = walk.seen;
    order.assign(1, 0);
    unfinished.assign(1, 0);
    level.assign(1, 0);
    seen.assign(size, 0);
    const auto visit = [&](index parent, std::int64_t child, std::int32_t depth) {
        const bool is_there = child >= 1 && child < size;
        if (!is_there || seen[child])
            throw Error(where(t, parent) + "not a tree: its child " + std::to_string(child) +
                        (is_there ? " has another parent" : " is out of range"));
        seen[child] = 1;
        order.push_back(child);
        level.push_back(depth);
    };
    while (!unfinished.empty()) {
        const index k = unfinished.back(), m = begin + order[k], next = index(order.size());
        unfinished.pop_back();
        const std::int64_t left = a.left[m], right = a.right[m];
        Node node{std::numeric_limits<float>::infinity(), 0, std::int32_t(k)};
        if (left != -1 || right != -1) {
            node = split(a, t, order[k], next);
            visit(order[k], left, level[k] + 1);
            visit(order[k], right, level[k] + 1);
            const bool right_first = a.weight && a.weight[begin + right] > a.weight[begin + left];
            unfinished.push_back(next + !right_first);
            unfinished.push_back(next + right_first);
        }
        nodes_[begin + k] = node;
    }
    if (index(order.size()) != size)
        throw Error("tree " + std::to_string(t) + ": nodes that no path from the root reaches");
    for (index k = begin; k < begin + size; ++k) {
        const index m = begin + order[k - begin];
        missing_left_[k] = a.missing_left[m];
        weights_[k] = a.weight ? a.weight[m] : 1.0;
        for (index c = 0; c < a.width; ++c) values_[k * a.width + c] = a.value[m * a.width + c];
    }
    depth_.push_back(*std::max_element(level.begin(), level.end()));
    tree_begin_.push_back(begin + size);
    tree_output_.push_back(a.width == 1 ? a.tree_output[t] : 0);
}

Node Forest::split(const TreeArrays& a, index t, index node, index left) const {
    const index m = a.tree_offsets[t] + node, feature = a.feature[m], set = a.set ? a.set[m] : -1;
    if (feature < 0 || feature >= n_features_)
        throw Error(where(t, node) + "no such feature: " + std::to_string(feature));
    if (set >= 0) {
        if (set >= columns() - n_features_ || comparison_->sets()[set].feature != feature)
            throw Error(where(t, node) + "no such set of values: " + std::to_string(set));
        return {0.0f, std::int32_t(n_features_ + set), std::int32_t(left)};
    }
    if (std::isnan(a.threshold[m])) throw Error(where(t, node) + "the threshold is NaN");
    const float code = a.code ? a.code[m] : comparison_->code_of_threshold(feature, a.threshold[m]);
    return {code, std::int32_t(feature), std::int32_t(left)};
}

std::vector<double> Forest::reach() const {
    std::vector<double> result(n_outputs_, 0.0);
    for (index t = 0; t < n_trees(); ++t)
        for (index c = 0; c < width_; ++c) {
            double largest = 0.0;
            for (index m = 0; m < tree_size(t); ++m) {
                if (!is_leaf(tree(t), m)) continue;
                const double value = std::abs(values(t)[m * width_ + c]);
                if (!(value <= largest)) largest = std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
            }
            result[width_ > 1 ? c : tree_output_[t]] += largest;
        }
    return result;
}

// Computes the values of inner nodes from the leaves upwards. Weights that define no mean (all zero, or negative) are
// taken as equal. This choice is free: any value between those of the leaves would be valid.
void Forest::average_upwards(index t) {
    const index begin = tree_begin_[t];
    for (index m = tree_begin_[t + 1] - 1; m >= begin; --m) {
        const index left = begin + nodes_[m].left;
        if (left == m) continue;
        const double left_weight = weights_[left], right_weight = weights_[left + 1], sum = left_weight + right_weight;
        const bool usable = left_weight >= 0.0 && right_weight >= 0.0 && sum > 0.0 && std::isfinite(sum);
        const double fraction = usable ? right_weight / sum : 0.5;
        for (index c = 0; c < width_; ++c) {
            const double low = values_[left * width_ + c], high = values_[(left + 1) * width_ + c];
            values_[m * width_ + c] = low + fraction * (high - low);
        }
    }
}

Forest Forest::scaled(const double* factors) const {
    Forest result = *this;
    std::fill(result.offset_.begin(), result.offset_.end(), 0.0);
    for (index t = 0; t < n_trees(); ++t) {
        for (index m = 0; m < tree_size(t); ++m)
            for (index c = 0; c < width_; ++c)
                result.values_[(tree_begin_[t] + m) * width_ + c] *=
                    factors[t * n_outputs_ + (width_ > 1 ? c : tree_output_[t])];
        result.average_upwards(t);  // so that the same forest, made of its leaves again, has the same bits
    }
    return result;
}

Forest Forest::compared_by(std::shared_ptr<const Comparison> comparison) const {
    Forest result = *this;
    NodePolls polls;
    for (index t = 0; t < n_trees(); ++t) {
        polls.add(tree_size(t));
        for (index m = 0; m < tree_size(t); ++m) {
            Node& node = result.nodes_[tree_begin_[t] + m];
            if (is_leaf(tree(t), m)) continue;
            if (node.feature >= n_features_)
                node.feature = std::int32_t(comparison->column(comparison_->set(node.feature)));
            else node.threshold = comparison->code_of_threshold(node.feature, threshold_of(*this, node));
        }
    }
    result.comparison_ = std::move(comparison);
    return result;
}

Forest Forest::of_variables(std::vector<std::int32_t> variables, index first) const {
    Forest result = *this;
    result.comparison_ = std::make_shared<const Comparison>(comparison_->of_variables(std::move(variables), first));
    return result;
}

double threshold_of(const Forest& forest, const Node& node) {
    const Comparison& own = *forest.comparison();
    return own.is_float32() ? largest_double_not_above(node.threshold) : own.threshold(node.feature, node.threshold);
}

namespace {

// By variable, the thresholds of all inner nodes in float64, and the cuts of sets.
std::vector<std::vector<double>> float64_thresholds(const Forest& forest) {
    std::vector<std::vector<double>> thresholds(forest.n_features());
    NodePolls polls;
    for (index t = 0; t < forest.n_trees(); ++t) {
        polls.add(forest.tree_size(t));
        for (index m = 0; m < forest.tree_size(t); ++m)
            if (const Node& node = forest.tree(t)[m];
                !Forest::is_leaf(forest.tree(t), m) && node.feature < forest.n_features())
                thresholds[node.feature].push_back(threshold_of(forest, node));
    }
    const ValueSets& sets = forest.comparison()->sets();
    for (index s = 0; s < sets.size(); ++s)
        thresholds[sets[s].feature].insert(thresholds[sets[s].feature].end(), sets[s].begin(), sets[s].end());
    return thresholds;
}

// How a forest compares one variable.
struct VariableComparison {
    Replacement replacement;
    const std::vector<double>& thresholds;
};

// Finds one replacement of a variable for all forests; false if there is none. A forest without a replacement may use
// one by a number if it has no threshold between the replaced values, and one by NaN if it has no threshold at all.
bool agree(const std::vector<VariableComparison>& forests, Replacement& all) {
    const auto replaces = [](const Replacement& r) { return r.low <= r.high; };
    for (const VariableComparison& own : forests)
        if (replaces(own.replacement)) all = own.replacement;
    if (!replaces(all)) return true;
    return std::all_of(forests.begin(), forests.end(), [&](const VariableComparison& own) {
        if (replaces(own.replacement)) return own.replacement == all;
        return std::none_of(own.thresholds.begin(), own.thresholds.end(), [&](double threshold) {
            return std::isnan(all.by) || (all.low <= threshold && threshold < all.high);
        });
    });
}

}  // namespace

std::shared_ptr<const Comparison> one_comparison(const std::vector<std::shared_ptr<const Forest>>& forests) {
    const auto& first = forests.front()->comparison();
    const auto is_first = [&](const auto& forest) { return same(forest->comparison(), first); };
    if (std::all_of(forests.begin(), forests.end(), is_first)) return first;
    std::vector<std::vector<std::vector<double>>> own;  // by forest
    for (const auto& forest : forests) {
        if (forest->n_features() != first->n_features()) throw Error("the forests have different numbers of features");
        if (forest->comparison()->first() != first->first() || forest->comparison()->variables() != first->variables())
            throw Error("the features of the forests belong to different variables");
        own.push_back(float64_thresholds(*forest));
    }
    std::vector<std::vector<double>> thresholds(first->n_features());
    std::vector<Replacement> replaced(first->n_features());
    for (index v = 0; v < first->n_features(); ++v) {
        std::vector<VariableComparison> variable;
        for (std::size_t i = 0; i < forests.size(); ++i) {
            variable.push_back({forests[i]->comparison()->replacement(v), own[i][v]});
            thresholds[v].insert(thresholds[v].end(), own[i][v].begin(), own[i][v].end());
        }
        if (!agree(variable, replaced[v])) return nullptr;
        sort_thresholds(thresholds[v]);
    }
    std::vector<ValueSet> sets;
    for (const auto& forest : forests)
        for (index s = 0; s < forest->comparison()->sets().size(); ++s) sets.push_back(forest->comparison()->sets()[s]);
    const Comparison all(std::move(thresholds), std::move(replaced), ValueSets(std::move(sets)));
    return std::make_shared<const Comparison>(all.of_variables(first->variables(), first->first()));
}

}  // namespace fasthdmr
