// Trees under the product of the marginals: their leaves as boxes, each side with its probability.
#pragma once

#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "forest/grouping.hpp"
#include "forest/marginals.hpp"

namespace fasthdmr {

// Sets of ranks, as runs that rise and do not touch, each numbered once: of variables that some split by sets of
// values.
class RankSets {
public:
    struct Run {
        std::int32_t low, high;  // low <= rank < high
        bool operator<(const Run& other) const { return std::tie(low, high) < std::tie(other.low, other.high); }
    };
    using Runs = std::vector<Run>;

    std::int32_t number(const Runs& runs);
    const Runs& runs(std::int32_t set) const { return runs_[set]; }
    // The part of a set inside another one, or outside.
    std::int32_t part(std::int32_t set, std::int32_t other, bool outside);

private:
    std::vector<Runs> runs_;
    std::map<Runs, std::int32_t> numbers_;
    std::map<std::tuple<std::int32_t, std::int32_t, bool>, std::int32_t> parts_;
};

// The values of one variable that lead to a leaf.
struct Side {
    std::int32_t variable;
    std::int32_t low, high;  // low <= rank < high
    bool missing;            // whether a missing value belongs to it too
    double probability;
    std::int32_t set = -1;  // the number of a set of ranks in place of the interval
};

// Leaves whose paths constrain the same variables.
struct LeafGroup {
    Subspace variables;
    std::vector<Side> sides;     // one a variable, leaf after leaf
    std::vector<double> values;  // one a leaf
};

// The trees of all members that add to one output, scaled and shifted to mean 0. The mean is in no component but the
// constant, and what does not have to cancel leaves no rounding error.
class ProductTrees {
public:
    struct Node {
        std::int32_t variable;  // -1: a leaf
        std::int32_t split;     // values of this rank and higher ones go right; or ~n: those outside set n
        std::int32_t left;      // counted within the tree; the right child is the next
        bool missing_left;
        double value;  // of a leaf
    };

    // Of each forest and tree a factor; trees with 0 are left out.
    ProductTrees(const std::vector<std::shared_ptr<const Forest>>& forests, index output,
                 const std::vector<const double*>& factors, std::shared_ptr<const Marginals> marginals);

    index count() const { return index(begin_.size()) - 1; }
    const Node* tree(index t) const { return nodes_.data() + begin_[t]; }
    index size(index t) const { return begin_[t + 1] - begin_[t]; }
    double mean() const { return mean_; }
    const std::vector<LeafGroup>& groups() const { return groups_; }
    const std::shared_ptr<const Marginals>& marginals() const { return marginals_; }
    const RankSets& sets() const { return sets_; }
    // All values of a variable.
    Side whole(std::int32_t variable) const;

private:
    std::int32_t split(const Forest& forest, const fasthdmr::Node& node);
    void append(const Forest& forest, index tree, index value_column, double factor,
                std::map<Subspace, index>& group_of);

    std::shared_ptr<const Marginals> marginals_;
    RankSets sets_;
    std::vector<std::int32_t> whole_;  // by variable the set of all ranks, -1 where there are intervals only
    std::vector<Node> nodes_;
    std::vector<index> begin_{0};
    double mean_ = 0.0;
    std::vector<LeafGroup> groups_;
};

struct PathToLeaf {
    index leaf;
    std::vector<Side> sides;  // the variables rising
    double probability;
};
// The paths that some row can take.
std::vector<PathToLeaf> paths_to_leaves(const ProductTrees& trees, const ProductTrees::Node* tree, RankSets& sets);

// Restricts the values of a node's variable to those that go to a child.
void narrow(const ProductTrees::Node& node, bool right, RankSets& sets, Side& side);

// Subspaces of up to `order` variables that leaves constrain, with the groups of those leaves; and how many pairs of a
// subspace and a group that makes.
using GroupsOf = std::map<Subspace, std::vector<index>, decltype(&precedes)>;
GroupsOf groups_of_subspaces(const std::vector<LeafGroup>& groups, index order);
double count_subspaces(const std::vector<LeafGroup>& groups, index order);

// The leaves of some groups as boxes in a subspace: values are averaged over the other variables.
struct BoxList {
    index order = 0;
    std::vector<Side> sides;  // `order` a box, the variables rising
    std::vector<double> values;

    index count() const { return index(values.size()); }
    const Side* box(index b) const { return sides.data() + b * order; }
};
BoxList boxes_in(const Subspace& u, const ProductTrees& trees, const std::vector<index>& chosen);
// How many boxes that makes: of a side that is a set, one a run.
index count_boxes(const Subspace& u, const ProductTrees& trees, const std::vector<index>& chosen);
// The same with boxes of the same sides as one.
BoxList merged(const BoxList& boxes);

}  // namespace fasthdmr
