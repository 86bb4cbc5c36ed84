// A block of input rows as float32 codes (comparison.hpp): one column for each column of the comparison, column-major.
#pragma once

#include "forest/forest.hpp"

namespace fasthdmr {

static_assert(kBlockRows * kMostFeatures <= index(1) << 31, "offsets in a block are 32-bit numbers");

// A block of rows as columns of codes. A forest may have thousands of value sets, so their columns are computed on
// demand. Therefore a block must be used by one thread only.
class InputBlock {
public:
    // Stores a reference to the comparison, which must outlive the block.
    explicit InputBlock(const Comparison& comparison) : comparison_(&comparison) {}
    void load(const Table& x, const Rows& rows);
    // Computes the columns of these value sets, unless they are computed already.
    void need_sets(const std::vector<index>& columns) const;

    const Comparison& comparison() const { return *comparison_; }
    const float* values() const { return values_.data(); }
    const float* values(index column) const { return values_.data() + column * leading_; }
    const float* row(index r) const { return values_.data() + r; }  // column j at row(r)[j * leading()]
    index rows() const { return rows_; }
    // From one column to the next: the number of rows, rounded up to whole tiles. A block of few rows needs little memory.
    index leading() const { return leading_; }
    bool has_missing() const { return has_missing_; }

private:
    const Comparison* comparison_;
    mutable UnsetBuffer<float> values_;
    mutable std::vector<char> has_set_;  // by set, whether its column is computed
    index rows_ = 0, leading_ = 0;
    bool has_missing_ = false;
};

// The columns of the value sets on which the trees split, in ascending order.
std::vector<index> sets_of(const Forest& forest, const std::vector<index>& trees);

}  // namespace fasthdmr
