// Node differences of a deep tree: one traversal adds those of all nodes on a row's path to the columns of their
// subspaces.
#pragma once

#include "forest/forest.hpp"
#include "forest/row_block.hpp"

namespace fasthdmr {

struct DeepTree {
    const Forest& forest;
    index tree, value_column;
    const std::int32_t* below;  // by node, the column of its children's differences (NodeGroups::below)
};

// Adds to columns[g] for g < `stop`; columns that are null are left out.
void add_node_terms(const DeepTree& tree, const InputBlock& block, double* const* columns, index stop);

}  // namespace fasthdmr
