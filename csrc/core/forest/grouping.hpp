// The subspaces that trees contribute to. By tree: the set of variables that a tree splits on. By node: the set of
// variables on the path to a node.
#pragma once

#include <vector>

#include "forest/forest.hpp"
#include "support/subspace.hpp"

namespace fasthdmr {

struct Group {
    Subspace subspace;
    std::vector<index> trees;
};

// A choice of trees: all, those that split on at most kFewVariables variables, or the others.
enum class TreeChoice { all, of_few_variables, of_many_variables };
constexpr std::size_t kFewVariables = 3;

// The trees that add to one output.
std::vector<index> trees_of(const Forest& forest, index output, TreeChoice which = TreeChoice::all);

// The groups of the trees that add to one output.
std::vector<Group> group_trees(const Forest& forest, index output, TreeChoice which = TreeChoice::all);

// The subspaces of all nodes, except the roots, of the trees that add to one output. Of trees of many variables alone,
// terms of two variables join a term of three of the same tree that contains them: parts of a tree cancel one another, so
// that the projection of their sum has a smaller residual than those of the parts.
struct NodeGroups {
    std::vector<Subspace> subspaces;  // sorted
    // By tree and node, a number of a subspace: of an inner node that of its children, of a leaf its own. -1 for a tree
    // that is a single leaf.
    std::vector<std::vector<std::int32_t>> below;
};
NodeGroups group_nodes(const Forest& forest, index output, TreeChoice which = TreeChoice::all);

}  // namespace fasthdmr
