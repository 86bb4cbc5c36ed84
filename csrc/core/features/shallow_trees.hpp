// Sums of trees of depth <= 3, of tops of trees (down to depth 3) and of paths. Thresholds are quantised to 16-bit
// codes.
#pragma once

#include <array>
#include <vector>

#include "forest/quantiser.hpp"

namespace fasthdmr {

// Whether the ranks of a tree's variables fit into 16 bits.
bool can_be_coded(const Forest& forest, const Thresholds& thresholds, index tree);

class CodedTrees {
public:
    // Adds a tree truncated at a depth. A row that ends at node m adds values[m * width].
    void append(const Forest& forest, const Thresholds& thresholds, index tree, int depth, const double* values,
                index width);
    // Adds a path of one to three inner nodes that starts at the root. The values are those of the left and of the
    // right child of the last node; rows that leave the path before add 0.
    void append_path(const Forest& forest, const Thresholds& thresholds, index tree,
                     const std::vector<std::int32_t>& nodes, const double (&values)[2]);
    bool empty() const { return trees_[0].empty() && trees_[1].empty() && trees_[2].empty() && paths_.empty(); }
    // The block must have codes unless this is empty.
    void add(const RankedBlock& block, const Thresholds& thresholds, double* out) const;

private:
    std::array<std::vector<CodedTree>, kShallowDepth> trees_;  // by depth; a single leaf is padded to depth 1
    std::vector<CodedPaths> paths_;
    bool last_is_half_ = false;  // the last pair has no second path yet
};

}  // namespace fasthdmr
