// Trees of depth <= 3, tops of trees and paths, quantised to 16-bit codes, whose values are summed into one column.
#pragma once

#include <array>
#include <vector>

#include "forest/quantiser.hpp"

namespace fasthdmr {

// Whether the ranks of a tree's variables fit into 16 bits.
bool can_be_coded(const Forest& forest, const Thresholds& thresholds, index tree);

class CodedTrees {
public:
    // Adds a tree cut off at a depth; what ends at node m adds values[m * width].
    void append(const Forest& forest, const Thresholds& thresholds, index tree, int depth, const double* values,
                index width);
    // Adds a path of one to three nodes from the root; the left and the right child of the last one add a value each.
    void append_path(const Forest& forest, const Thresholds& thresholds, index tree,
                     const std::vector<std::int32_t>& nodes, const double (&values)[2]);
    bool empty() const { return trees_[0].empty() && trees_[1].empty() && trees_[2].empty() && paths_.empty(); }
    // The block must have codes if there are trees.
    void add(const RankedBlock& block, const Thresholds& thresholds, double* out) const;

private:
    std::array<std::vector<CodedTree>, kShallowDepth> trees_;  // of depth 1, 2, 3; a single leaf is padded to depth 1
    std::vector<CodedPaths> paths_;
    bool last_is_half_ = false;  // the last pair has no second path yet
};

}  // namespace fasthdmr
