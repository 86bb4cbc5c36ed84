// Blocks of rows -> blocks of feature columns, by node (spec 4): a tree is its root's value and, for every other node
// on a row's path, the difference from the parent's value; each difference belongs to the variables of that path.
#pragma once

#include <vector>

#include "forest.hpp"
#include "groups.hpp"
#include "padded_trees.hpp"
#include "step_function.hpp"

namespace fasthdmr {

// The trees of a forest that add to one output, sorted by node.
class NodeSums {
public:
    NodeSums(const Forest& forest, index output);

    const std::vector<Subspace>& subspaces() const { return groups_.subspaces; }
    bool empty() const { return n_trees_ == 0; }
    double constant() const { return constant_; }  // the sum of the roots' values
    // Adds every subspace's terms to a column of its own; those without a column (null) are left out.
    void add(const Forest& forest, const InputBlock& block, double* const* columns) const;

private:
    void append_shallow(const Forest& forest, index t, index n_single);
    template <bool Missing>
    void add_deep(const Forest& forest, index t, const InputBlock& block, double* const* columns, index stop) const;

    NodeGroups groups_;  // the numbers of the nodes only for deep trees
    index value_column_;
    index n_trees_ = 0;
    double constant_ = 0.0;
    std::vector<StepFunction> single_;  // of the first subspaces, those of one variable: all trees
    std::vector<PaddedTrees> shallow_;  // of the others: the tops of shallow trees, with what they add to it
    std::vector<index> deep_;
};

// For every output that has trees the constant and one column a subspace, (rows, columns), column-wise.
void node_features(const Forest& forest, const std::vector<NodeSums>& outputs, const Table& x, double* out,
                   int n_threads);

}  // namespace fasthdmr
