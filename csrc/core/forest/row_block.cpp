#include "forest/row_block.hpp"

namespace fasthdmr {

void InputBlock::load(const Table& x, const Rows& rows) {
    rows_ = rows.count;
    has_missing_ = false;
    for (index j = 0; j < x.columns; ++j) {
        float* column = values_.data() + j * kBlockRows;
        comparison_->load(x, rows, j, column);
        int missing = 0;
        for (index r = 0; r < rows_; ++r) missing |= column[r] != column[r];
        has_missing_ |= missing != 0;
    }
    for (index j = x.columns; j < comparison_->columns(); ++j) {
        const float* codes = values_.data() + comparison_->variable(j) * kBlockRows;
        comparison_->load_set(j, codes, rows_, values_.data() + j * kBlockRows);
    }
}

}  // namespace fasthdmr
