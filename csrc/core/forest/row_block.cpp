#include "forest/row_block.hpp"

#include <algorithm>

#include "kernels/kernels.hpp"
#include "support/interruption.hpp"

namespace fasthdmr {

void InputBlock::load(const Table& x, const Rows& rows) {
    rows_ = rows.count;
    leading_ = (rows_ + kTile - 1) / kTile * kTile;
    values_.resize(comparison_->columns() * leading_);
    has_missing_ = false;
    for (index j = 0; j < comparison_->n_features(); ++j) {
        float* column = values_.data() + j * leading_;
        comparison_->load(x, rows, j, column);
        int missing = 0;
        for (index r = 0; r < rows_; ++r) missing |= column[r] != column[r];
        has_missing_ |= missing != 0;
    }
    has_set_.assign(comparison_->sets().size(), 0);
}

void InputBlock::need_sets(const std::vector<index>& columns) const {
    for (const index j : columns) {
        char& has = has_set_[j - comparison_->n_features()];
        if (has) continue;
        has = 1;
        comparison_->load_set(j, values(comparison_->feature(j)), rows_, values_.data() + j * leading_);
    }
}

std::vector<index> sets_of(const Forest& forest, const std::vector<index>& trees) {
    std::vector<char> is_used(forest.columns(), 0);
    for (const index t : trees) {
        poll();
        for (index m = 0; m < forest.tree_size(t); ++m) is_used[forest.tree(t)[m].feature] = 1;
    }
    std::vector<index> sets;
    for (index j = forest.n_features(); j < forest.columns(); ++j)
        if (is_used[j]) sets.push_back(j);
    return sets;
}

}  // namespace fasthdmr
