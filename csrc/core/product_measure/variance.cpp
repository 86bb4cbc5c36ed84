#include "product_measure/variance.hpp"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "kernels/kernels.hpp"
#include "support/parallel.hpp"

namespace fasthdmr {

void refuse(double count, double most, const char* what) {
    char text[400];
    std::snprintf(text, sizeof text,
                  "The product measure would take about %.2g %s, and %.2g is the most. Take a lower order, a choice of "
                  "interactions, or fewer or shallower trees; or the empirical measure, which does not need them.",
                  count, what, most);
    throw Error(text);
}

namespace {

constexpr index kTreesPerPoll = 16;  // the traversal of a single one may take less time than a poll
constexpr index kBoxes = 256;        // boxes whose probabilities fit into the first-level cache

// The intervals of boxes as probabilities, variable after variable.
struct BoxProbabilities {
    std::vector<double> numbers;
    std::vector<IntervalProbabilities> intervals;

    BoxProbabilities(const BoxList& boxes, const Marginals& marginals) : numbers(4 * boxes.order * boxes.count()) {
        const index n = boxes.count();
        for (index s = 0; s < boxes.order; ++s) {
            double* low = numbers.data() + 4 * s * n;
            intervals.push_back({low, low + n, low + 2 * n, low + 3 * n});
            for (index b = 0; b < n; ++b) {
                const Constraint& constraint = boxes.box(b)[s];
                low[b] = marginals.probability(constraint.variable, 0, constraint.low);
                low[n + b] = marginals.probability(constraint.variable, 0, constraint.high);
                low[2 * n + b] = constraint.missing ? marginals.missing(constraint.variable) : 0.0;
                low[3 * n + b] = constraint.probability;
            }
        }
    }
};

// The sum of covariances of pairs of a box of one batch with a box of the same or a later batch. Pairs of two batches
// count twice, by symmetry.
double pairs_from(index begin, const BoxList& boxes, const BoxProbabilities& probabilities) {
    const index n = boxes.count(), end = std::min(begin + kBoxes, n);
    double sum = 0.0;
    for (index first = begin; first < n; first += kBoxes) {
        const index count = std::min(kBoxes, n - first);
        double out[kBoxes] = {};
        poll();
        for (index a = begin; a < end; ++a)
            kernels().add_covariances(probabilities.intervals.data(), boxes.order, boxes.values.data(), a, first, count,
                                      out);
        const double part = std::accumulate(out, out + count, 0.0);
        sum += first == begin ? part : 2.0 * part;
    }
    return sum;
}

}  // namespace

std::vector<double> box_variances(const std::vector<const BoxList*>& lists, const Marginals& marginals, int n_threads) {
    struct Task {
        std::size_t list;
        index begin;
    };
    std::vector<Task> tasks;
    std::vector<BoxProbabilities> probabilities;
    for (std::size_t k = 0; k < lists.size(); ++k) {
        poll();
        probabilities.emplace_back(*lists[k], marginals);
        for (index begin = 0; begin < lists[k]->count(); begin += kBoxes) tasks.push_back({k, begin});
    }
    std::vector<double> parts(tasks.size()), result(lists.size(), 0.0);
    parallel_for(index(tasks.size()), n_threads, [&](index t) {
        parts[t] = pairs_from(tasks[t].begin, *lists[tasks[t].list], probabilities[tasks[t].list]);
    });
    for (std::size_t t = 0; t < tasks.size(); ++t) result[tasks[t].list] += parts[t];
    for (double& variance : result) variance = std::max(variance, 0.0);
    return result;
}

namespace {

// Traverses trees with a box instead of a row: at a split that divides the box, both children are visited.
class BoxTraversal {
public:
    explicit BoxTraversal(const ProductTrees& trees)
        : trees_(trees), marginals_(*trees.marginals()), sets_(RankSets::extending(trees.sets())) {
        for (index v = 0; v < marginals_.thresholds().variables(); ++v) box_.push_back(trees.whole(std::int32_t(v)));
    }

    std::vector<PathToLeaf> paths(index tree) { return paths_to_leaves(trees_, trees_.tree(tree), sets_); }

    // Restricts the box to that of a leaf, and back to all values.
    void enter(const PathToLeaf& path) {
        for (const Constraint& constraint : path.constraints) box_[constraint.variable] = constraint;
    }
    void leave(const PathToLeaf& path) {
        for (const Constraint& constraint : path.constraints)
            box_[constraint.variable] = trees_.whole(constraint.variable);
    }

    // The sum over the leaves of a tree of value * P(leaf and box). P(box) is given and positive.
    double sum(index tree, double probability) {
        double total = 0.0;
        stack_.push_back({true, 0, {-1, 0, 0, false, 0.0}, probability});
        while (!stack_.empty()) {
            const Step step = stack_.back();
            stack_.pop_back();
            if (step.constraint.variable >= 0) box_[step.constraint.variable] = step.constraint;
            if (step.goes_on) total += follow(trees_.tree(tree), step);
        }
        return total;
    }

    index visits() const { return visits_; }

private:
    // An entry of the stack: sets the constraint of the box on one variable (-1: none), and then, unless it only
    // restores that constraint, continues the traversal at a node.
    struct Step {
        bool goes_on;
        std::int32_t node;
        Constraint constraint;
        double probability;
    };

    // The weight of the rows that satisfy a constraint.
    double weight(const Constraint& c) const {
        const std::vector<double>& below = marginals_.below(c.variable);
        double present = c.set < 0 && c.low < c.high ? below[c.high] - below[c.low] : 0.0;
        if (c.set >= 0)
            for (const auto& [low, high] : sets_.runs(c.set)) present += below[high] - below[low];
        return c.missing ? present + (below.back() - below[below.size() - 2]) : present;
    }

    // Descends to a leaf. Right children of splits that divide the box are pushed onto the stack.
    double follow(const ProductTrees::Node* tree, const Step& step) {
        double probability = step.probability;
        for (std::int32_t m = step.node;;) {
            ++visits_;
            const ProductTrees::Node& node = tree[m];
            if (node.variable < 0) return node.value * probability;
            const Constraint all = box_[node.variable];
            Constraint left = all, right = all;
            narrow(node, false, sets_, left);
            narrow(node, true, sets_, right);
            const double left_weight = weight(left), right_weight = weight(right);
            m = node.left;
            if (right_weight == 0.0) continue;
            if (left_weight == 0.0) {
                ++m;
                continue;
            }
            const double fraction = left_weight / (left_weight + right_weight);
            stack_.push_back({false, 0, all, 0.0});
            stack_.push_back({true, m + 1, right, probability * (1.0 - fraction)});
            box_[node.variable] = left;
            probability *= fraction;
        }
    }

    const ProductTrees& trees_;
    const Marginals& marginals_;
    RankSets sets_;                // those of the trees, and their intersections
    std::vector<Constraint> box_;  // by variable
    std::vector<Step> stack_;
    index visits_ = 0;
};

}  // namespace

double tree_variance(const ProductTrees& trees, int n_threads) {
    std::vector<double> parts(trees.count(), 0.0);
    parallel_for(trees.count(), n_threads, [&](index t) {
        BoxTraversal traversal(trees);
        for (const PathToLeaf& path : traversal.paths(t)) {
            if (path.probability == 0.0) continue;
            const double value = trees.tree(t)[path.leaf].value;
            double others = 0.0;
            traversal.enter(path);
            for (index other = t + 1; other < trees.count(); ++other) {
                if (other % kTreesPerPoll == 0) poll();
                others += traversal.sum(other, path.probability);
            }
            traversal.leave(path);
            parts[t] += value * (value * path.probability + 2.0 * others);
        }
    });
    return std::max(std::accumulate(parts.begin(), parts.end(), 0.0), 0.0);
}

// Extrapolates from some leaves of some pairs of trees.
double estimated_visits(const ProductTrees& trees) {
    constexpr index pairs = 64, leaves = 32;
    const index n = trees.count();
    double sum = 0.0;
    for (index k = 0; k < (n > 0 ? pairs : 0); ++k) {
        poll();
        const index t = k * n / pairs, other = (t * 7919 + k * 104729) % n;
        BoxTraversal traversal(trees);
        const std::vector<PathToLeaf> paths = traversal.paths(t);
        const index taken = std::min(leaves, index(paths.size()));
        for (index l = 0; l < taken; ++l) {
            const PathToLeaf& path = paths[l * index(paths.size()) / taken];
            if (path.probability == 0.0) continue;
            traversal.enter(path);
            traversal.sum(other, path.probability);
            traversal.leave(path);
        }
        sum += double(traversal.visits()) * double(paths.size()) / double(taken);
    }
    return sum / double(pairs) * double(n) * double(n) / 2.0;
}

}  // namespace fasthdmr
