#include "input_block.hpp"

#include <cmath>

namespace fasthdmr {

void InputBlock::load(const Table& x, const Rows& rows) {
    rows_ = rows.count;
    has_missing_ = false;
    for (index j = 0; j < x.columns; ++j) {
        float* column = values_.data() + j * kBlockRows;
        bool missing = false;
        for (index r = 0; r < rows_; ++r) {
            column[r] = float(x.at(rows[r], j));
            missing |= std::isnan(column[r]);
        }
        has_missing_ |= missing;
    }
}

}  // namespace fasthdmr
