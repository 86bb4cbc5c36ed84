// A block of input rows as float32 codes (comparison.hpp): one column for each column of the comparison, column-major.
#pragma once

#include "forest/forest.hpp"

namespace fasthdmr {

static_assert(kBlockRows * kMostFeatures <= index(1) << 31, "offsets in a block are 32-bit numbers");

class InputBlock {
public:
    // Keeps a reference to the comparison.
    explicit InputBlock(const Comparison& comparison)
        : comparison_(&comparison), values_(comparison.columns() * kBlockRows) {}
    void load(const Table& x, const Rows& rows);

    const float* values() const { return values_.data(); }
    const float* row(index r) const { return values_.data() + r; }  // column j at row(r)[j * kBlockRows]
    index rows() const { return rows_; }
    bool has_missing() const { return has_missing_; }

private:
    const Comparison* comparison_;
    Buffer<float> values_;
    index rows_ = 0;
    bool has_missing_ = false;
};

}  // namespace fasthdmr
