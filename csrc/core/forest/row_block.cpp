#include "forest/row_block.hpp"

#include "kernels/kernels.hpp"

namespace fasthdmr {

void InputBlock::load(const Table& x, const Rows& rows) {
    rows_ = rows.count;
    has_missing_ = false;
    for (index j = 0; j < x.columns; ++j) {
        float* column = values_.data() + j * kBlockRows;
        if (rows.list)
            for (index r = 0; r < rows_; ++r) column[r] = float(x.at(rows[r], j));
        else
            kernels().load(x.data + rows.start * x.row_stride + j * x.column_stride, x.is_float32,
                           rows.stride * x.row_stride, rows_, column);
        int missing = 0;
        for (index r = 0; r < rows_; ++r) missing |= column[r] != column[r];
        has_missing_ |= missing != 0;
    }
}

}  // namespace fasthdmr
