// A block of input rows, converted to float32, column-major: trees compare in single precision.
#pragma once

#include "forest/forest.hpp"

namespace fasthdmr {

static_assert(kBlockRows * kMostFeatures <= index(1) << 31, "places in a block are 32-bit numbers");

class InputBlock {
public:
    explicit InputBlock(index n_features) : values_(n_features * kBlockRows) {}
    void load(const Table& x, const Rows& rows);

    const float* values() const { return values_.data(); }
    const float* row(index r) const { return values_.data() + r; }  // variable j at row(r)[j * kBlockRows]
    index rows() const { return rows_; }
    bool has_missing() const { return has_missing_; }

private:
    Buffer<float> values_;
    index rows_ = 0;
    bool has_missing_ = false;
};

}  // namespace fasthdmr
