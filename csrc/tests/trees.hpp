// Trees in the form that loaders return, random trees, and a slow traversal of the original arrays.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "forest/compared_nodes.hpp"
#include "forest/forest.hpp"
#include "forest/grouping.hpp"
#include "matrix.hpp"
#include "random.hpp"

namespace fasthdmr {

// Entries that a forest must ignore (the split of a leaf, the value of an inner node) are invalid numbers.
struct TreeNode {
    std::int64_t left = -1, right = -1, feature = -2;
    double threshold = std::numeric_limits<double>::quiet_NaN();
    bool missing_left = false;
    std::vector<double> value;
};
using Tree = std::vector<TreeNode>;

inline TreeNode leaf(std::vector<double> value) {
    TreeNode node;
    node.value = std::move(value);
    return node;
}

inline TreeNode split(std::int64_t feature, double threshold, std::int64_t left, std::int64_t right,
                      bool missing_left = false) {
    return {left, right, feature, threshold, missing_left, {}};
}

struct Trees {
    index n_features = 1, n_outputs = 1, width = 1;
    std::vector<double> offset{0.0};
    std::vector<std::int64_t> tree_offsets{0}, left, right, feature, tree_output;
    std::vector<double> threshold, value;
    std::vector<std::uint8_t> missing_left;
    // Splits by sets of values: by node the number of a set of the comparison, or -1. If it is empty, x is compared in
    // float32, otherwise in float64.
    std::vector<std::int64_t> set;
    std::shared_ptr<const Comparison> comparison;
    // Feature j is column first + j of x, and a function of of_feature[j]; if that is empty, a variable of its own.
    std::vector<std::int32_t> of_feature;
    index first = 0;

    Trees() = default;
    Trees(index features, index outputs, index width_)
        : n_features(features), n_outputs(outputs), width(width_), offset(outputs, 0.0) {}

    Trees& add(const Tree& tree, index output = 0) {
        for (TreeNode node : tree) {
            left.push_back(node.left);
            right.push_back(node.right);
            feature.push_back(node.feature);
            threshold.push_back(node.threshold);
            missing_left.push_back(node.missing_left);
            node.value.resize(width, std::numeric_limits<double>::quiet_NaN());
            value.insert(value.end(), node.value.begin(), node.value.end());
        }
        tree_offsets.push_back(index(left.size()));
        tree_output.push_back(output);
        return *this;
    }

    // Turns some of the splits on the first features into splits by sets, with cuts from the pool.
    template <class Source>
    void split_by_sets(Source& random, const std::vector<double>& pool, double fraction = 0.6) {
        std::vector<std::vector<double>> cuts;
        set.assign(left.size(), -1);
        for (std::size_t m = 0; m < left.size(); ++m) {
            if (left[m] == -1 || feature[m] > n_features / 2 || !random.happens(fraction)) continue;
            std::vector<double> ends;
            for (index k = 2 * random.below(6); k > 0; --k) ends.push_back(random.one_of(pool));
            std::sort(ends.begin(), ends.end());
            ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
            if (ends.size() % 2) ends.pop_back();
            set[m] = index(cuts.size());
            cuts.push_back(ends);
        }
        const NodeArrays nodes{index(left.size()), left.data(),      right.data(),
                               feature.data(),     threshold.data(), set.data()};
        SetCuts all;
        for (const std::vector<double>& of : cuts) all.append(of);
        comparison = compare_nodes(nodes, std::vector<Replacement>(n_features), all).comparison;
        for (std::size_t m = 0; m < left.size(); ++m)
            if (set[m] >= 0) set[m] = comparison->column({feature[m], all.begin(set[m]), all.end(set[m])}) - n_features;
    }

    TreeArrays arrays() const {
        return {n_features,
                n_outputs,
                n_trees(),
                index(left.size()),
                width,
                tree_offsets.data(),
                left.data(),
                right.data(),
                feature.data(),
                threshold.data(),
                missing_left.data(),
                value.data(),
                tree_output.data(),
                offset.data(),
                nullptr,
                comparison,
                set.empty() ? nullptr : set.data()};
    }
    Forest forest() const { return Forest(arrays()).of_variables(of_feature, first); }
    std::int32_t variable(std::int64_t feature_) const {
        return of_feature.empty() ? std::int32_t(feature_) : of_feature[feature_];
    }
    index n_trees() const { return index(tree_output.size()); }

    bool goes_left(index m, double x) const {
        if (set.empty()) return double(float(x)) <= threshold[m];
        if (set[m] < 0) return x <= threshold[m];
        const ValueSet cuts = comparison->sets()[set[m]];
        return std::count_if(cuts.begin(), cuts.end(), [&](double cut) { return cut < x; }) % 2 == 1;
    }

    // The value that tree t adds to an output at row i, by traversal of the arrays.
    double value_at(index t, const Matrix& x, index i, index output) const {
        const index root = tree_offsets[t];
        if (width == 1 && tree_output[t] != output) return 0.0;
        index m = root;
        while (left[m] != -1) {
            const double at = x(i, first + feature[m]);
            m = root + ((std::isnan(at) ? missing_left[m] != 0 : goes_left(m, at)) ? left[m] : right[m]);
        }
        return value[m * width + (width > 1 ? output : 0)];
    }

    // The outputs at all rows, one output after the other.
    std::vector<double> predict(const Matrix& x) const {
        std::vector<double> out;
        for (index output = 0; output < n_outputs; ++output)
            for (index i = 0; i < x.rows; ++i) {
                double sum = offset[output];
                for (index t = 0; t < n_trees(); ++t) sum += value_at(t, x, i, output);
                out.push_back(sum);
            }
        return out;
    }

    Subspace variables(index t) const {
        Subspace found;
        for (index m = tree_offsets[t]; m < tree_offsets[t + 1]; ++m)
            if (left[m] != -1 && std::find(found.begin(), found.end(), variable(feature[m])) == found.end())
                found.push_back(variable(feature[m]));
        std::sort(found.begin(), found.end());
        return found;
    }
};

// Numbers at which rounding to float32 matters, and their neighbours in float32 and float64.
inline std::vector<double> awkward_values() {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr float float_infinity = std::numeric_limits<float>::infinity();
    std::vector<double> values;
    for (const double v :
         {0.0, 1e-320, 1e-46, double(std::numeric_limits<float>::denorm_min()), 1e-40, 0.1, double(0.1f), 1.0 / 3.0,
          1.0, 16777217.0, double(std::numeric_limits<float>::max()), 1e300, infinity})
        for (const double s : {-v, v})
            for (const double w :
                 {s, std::nextafter(s, infinity), std::nextafter(s, -infinity),
                  double(std::nextafter(float(s), float_infinity)), double(std::nextafter(float(s), -float_infinity))})
                values.push_back(w);
    return values;
}

inline Matrix awkward_rows(Random& random, index rows, index columns, double missing) {
    const std::vector<double> pool = awkward_values();
    Matrix x(rows, columns);
    for (double& v : x.values)
        v = random.happens(missing) ? std::numeric_limits<double>::quiet_NaN() : random.one_of(pool);
    return x;
}

// A tree whose right children are leaves: a row ends in leaf k if k - 1 < x <= k.
inline Tree chain(int length) {
    Tree tree;
    for (int k = 0; k < length; ++k) {
        tree.push_back(split(0, double(k), 2 * k + 1, 2 * k + 2));
        tree.push_back(leaf({double(k)}));
    }
    tree.push_back(leaf({double(length)}));
    return tree;
}

// Random trees of a given depth. The nodes after the root are in random order.
template <class Source = Random>
class TreeGrower {
public:
    TreeGrower(Source& random, index n_features, index width, std::vector<double> thresholds)
        : random_(random), n_features_(n_features), width_(width), thresholds_(std::move(thresholds)) {}

    Tree grow(int depth) {
        Tree tree;
        grow(tree, depth, true);
        return shuffled(tree);
    }

private:
    std::int64_t grow(Tree& tree, int depth, bool full) {
        const std::int64_t at = std::int64_t(tree.size());
        if (depth == 0 || (!full && random_.happens(0.3))) {
            std::vector<double> value(width_);
            for (double& v : value) v = random_.uniform(-1.0, 1.0);
            tree.push_back(leaf(value));
            return at;
        }
        // One after the other: compilers evaluate the arguments of a call in different orders.
        const index feature = random_.below(n_features_);
        const double threshold = random_.one_of(thresholds_);
        tree.push_back(split(feature, threshold, 0, 0, random_.happens(0.5)));
        const bool left_full = full && random_.happens(0.5);
        const std::int64_t left = grow(tree, depth - 1, left_full), right = grow(tree, depth - 1, full && !left_full);
        tree[at].left = left;
        tree[at].right = right;
        return at;
    }

    Tree shuffled(const Tree& tree) {
        std::vector<std::int64_t> number(tree.size());
        for (std::size_t m = 0; m < tree.size(); ++m) number[m] = std::int64_t(m);
        for (std::size_t m = tree.size() - 1; m > 1; --m) std::swap(number[m], number[1 + random_.below(index(m))]);
        Tree result(tree.size());
        for (std::size_t m = 0; m < tree.size(); ++m) {
            TreeNode node = tree[m];
            if (node.left != -1) {
                node.left = number[node.left];
                node.right = number[node.right];
            }
            result[number[m]] = node;
        }
        return result;
    }

    Source& random_;
    index n_features_, width_;
    std::vector<double> thresholds_;
};

}  // namespace fasthdmr
