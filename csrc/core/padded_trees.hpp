// Trees of depth <= 3, or the tops of trees, whose values are added up into one column, laid out for the kernels.
#pragma once

#include <array>
#include <vector>

#include "forest.hpp"
#include "input_block.hpp"

namespace fasthdmr {

class PaddedTrees {
public:
    // Adds tree t cut off at a depth; what ends at node m adds values[m * width].
    void append(const Forest& forest, index t, int depth, const double* values, index width);
    void add(const Forest& forest, const InputBlock& block, double* out) const;

private:
    struct Level {  // the trees of one depth
        std::vector<ShallowTree> trees;
        std::vector<index> source;  // their numbers in the forest: missing values follow the tree itself
    };
    std::array<Level, kShallowDepth> levels_;  // depth 1, 2, 3; a single leaf is padded to depth 1
};

}  // namespace fasthdmr
