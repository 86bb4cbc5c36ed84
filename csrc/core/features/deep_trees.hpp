// Trees too deep for codes: walked from the root to a leaf, once for all the columns that they add to.
#pragma once

#include <vector>

#include "forest/forest.hpp"
#include "forest/row_block.hpp"

namespace fasthdmr {

class DeepTrees {
public:
    void append(index tree, index column, index value_column) { terms_.push_back({tree, column, value_column}); }
    // Once all are there: brings the terms of a tree together.
    void sort();
    // Columns without a place (null) are left out.
    void add(const Forest& forest, const InputBlock& block, double* const* columns) const;

private:
    struct Term {
        index tree, column, value_column;
    };
    std::vector<Term> terms_;
};

}  // namespace fasthdmr
