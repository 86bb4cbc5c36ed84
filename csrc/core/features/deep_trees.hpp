// Sums of deep trees. The leaf of a row is found once for all columns that the tree adds to.
#pragma once

#include <vector>

#include "forest/forest.hpp"
#include "forest/row_block.hpp"

namespace fasthdmr {

class DeepTrees {
public:
    void append(index tree, index column, index value_column) { terms_.push_back({tree, column, value_column}); }
    // Sorts the terms by tree. To be called after the last append.
    void finish(const Forest& forest);
    // Adds to all columns; those whose pointer is null are left out.
    void add(const Forest& forest, const InputBlock& block, double* const* columns) const;

private:
    struct Term {
        index tree, column, value_column;
    };
    template <bool Missing>
    void add_row(const Forest& forest, const InputBlock& block, index row, double* const* columns) const;

    std::vector<Term> terms_;
    std::vector<index> sets_;
};

}  // namespace fasthdmr
