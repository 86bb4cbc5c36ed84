// Leaves of trees as boxes: products of constraints on one variable each, with their probabilities under the marginals.
#pragma once

#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "forest/grouping.hpp"
#include "forest/marginals.hpp"

namespace fasthdmr {

// Sets of ranks, for variables that are split by sets of values. A set is a list of runs in increasing order, which do
// not touch. Equal sets have the same number.
class RankSets {
public:
    struct Run {
        std::int32_t low, high;  // low <= rank < high
        bool operator<(const Run& other) const { return std::tie(low, high) < std::tie(other.low, other.high); }
    };
    using Runs = std::vector<Run>;

    RankSets() = default;
    // The sets of another object, which must outlive this and must not change, and sets added to them.
    static RankSets extending(const RankSets& base);

    std::int32_t number(const Runs& runs);
    const Runs& runs(std::int32_t set) const { return set < first_ ? base_->runs(set) : runs_[set - first_]; }
    // The intersection of a set with another one, or with its complement.
    std::int32_t intersect(std::int32_t set, std::int32_t other, bool complement);

private:
    const RankSets* base_ = nullptr;
    std::int32_t first_ = 0;  // the number of the first set that is not in the base
    std::vector<Runs> runs_;
    std::map<Runs, std::int32_t> numbers_;
    std::unordered_map<std::uint64_t, std::int32_t> intersections_;
};

// The values of one variable that satisfy all splits on a path.
struct Constraint {
    std::int32_t variable;
    std::int32_t low, high;  // low <= rank < high
    bool missing;            // whether missing values satisfy it
    double probability;
    std::int32_t set = -1;  // if not -1, the number of a set of ranks, which replaces the interval
};

// Leaves whose paths constrain the same variables.
struct LeafGroup {
    Subspace variables;
    std::vector<Constraint> constraints;  // leaf after leaf, one for each variable
    std::vector<double> values;           // by leaf
};

// The trees of all members that add to one output, scaled and shifted to mean 0. The means affect the constant only.
// Without the shift they would cancel in the other components, and leave rounding errors.
class ProductTrees {
public:
    struct Node {
        std::int32_t variable;  // -1: a leaf
        std::int32_t split;  // ranks >= split go right; if it is negative, ~split is a set, and ranks outside go right
        std::int32_t left;   // numbered within the tree; the right child is the next
        bool missing_left;
        double value;  // of a leaf
    };

    // factors[i][t] scales tree t of forest i; trees with factor 0 are left out.
    ProductTrees(const std::vector<std::shared_ptr<const Forest>>& forests, index output,
                 const std::vector<const double*>& factors, std::shared_ptr<const Marginals> marginals);

    index count() const { return index(begin_.size()) - 1; }
    const Node* tree(index t) const { return nodes_.data() + begin_[t]; }
    index size(index t) const { return begin_[t + 1] - begin_[t]; }
    double mean() const { return mean_; }
    const std::vector<LeafGroup>& groups() const { return groups_; }
    const std::shared_ptr<const Marginals>& marginals() const { return marginals_; }
    const RankSets& sets() const { return sets_; }
    // The constraint that all values of a variable satisfy.
    Constraint whole(std::int32_t variable) const;

private:
    std::int32_t split(const Forest& forest, const fasthdmr::Node& node);
    void append(const Forest& forest, index tree, index value_column, double factor,
                std::map<Subspace, index>& group_of);

    std::shared_ptr<const Marginals> marginals_;
    RankSets sets_;
    std::vector<std::int32_t> whole_;  // by variable, the set of all ranks; -1 if no forest splits it by sets
    std::vector<Node> nodes_;
    std::vector<index> begin_{0};
    double mean_ = 0.0;
    std::vector<LeafGroup> groups_;
};

struct PathToLeaf {
    index leaf;
    std::vector<Constraint> constraints;  // sorted by variable
    double probability;
};
// The paths whose constraints can be satisfied.
std::vector<PathToLeaf> paths_to_leaves(const ProductTrees& trees, const ProductTrees::Node* tree, RankSets& sets);

// Adds the condition that a row goes to the given child of a node to the constraint on the node's variable.
void narrow(const ProductTrees::Node& node, bool right, RankSets& sets, Constraint& constraint);

// Subspaces of up to `order` variables that are constrained by leaves, each with the groups of these leaves.
// `count_subspaces` is the number of all pairs of a subspace and a group.
using GroupsOf = std::map<Subspace, std::vector<index>, decltype(&precedes)>;
GroupsOf groups_of_subspaces(const std::vector<LeafGroup>& groups, index order);
double count_subspaces(const std::vector<LeafGroup>& groups, index order);

// Boxes in a subspace, with values that are averages over the other variables.
struct BoxList {
    index order = 0;
    std::vector<Constraint> constraints;  // `order` of them for each box, sorted by variable
    std::vector<double> values;

    index count() const { return index(values.size()); }
    const Constraint* box(index b) const { return constraints.data() + b * order; }
};
// The leaves of some groups as boxes. A constraint to a set of ranks gives one box for each run.
BoxList boxes_in(const Subspace& u, const ProductTrees& trees, const std::vector<index>& chosen);
// The number of these boxes.
index count_boxes(const Subspace& u, const ProductTrees& trees, const std::vector<index>& chosen);
// Adds up boxes with equal constraints.
BoxList merged(const BoxList& boxes);

}  // namespace fasthdmr
