// Sums of trees of depth <= 3, and of tops of trees down to depth 3. Thresholds are quantised to 16-bit codes.
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
    bool empty() const { return trees_[0].empty() && trees_[1].empty() && trees_[2].empty(); }
    // The block must have codes unless this is empty.
    void add(const RankedBlock& block, double* out) const;

private:
    std::array<std::vector<CodedTree>, kShallowDepth> trees_;  // by depth; a single leaf is padded to depth 1
};

}  // namespace fasthdmr
