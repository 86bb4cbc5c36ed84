// Trees sorted by the exact set of variables they split on (spec 4, by tree).
#pragma once

#include <vector>

#include "forest.hpp"

namespace fasthdmr {

using Subspace = std::vector<std::int32_t>;  // sorted variable numbers

struct Group {
    Subspace subspace;
    std::vector<index> trees;
};

// By order, then lexicographically: the order of columns everywhere.
bool precedes(const Subspace& a, const Subspace& b);

// The groups of the trees that add to one output.
std::vector<Group> group_trees(const Forest& forest, index output);

}  // namespace fasthdmr
