// Blocks of rows -> blocks of feature columns (spec 4, by tree): one column a group of trees.
#pragma once

#include <vector>

#include "forest.hpp"
#include "groups.hpp"
#include "input_block.hpp"
#include "padded_trees.hpp"

namespace fasthdmr {

// Trees whose leaf values are added up into one column.
class TreeSum {
public:
    TreeSum(const Forest& forest, const std::vector<index>& trees, index output);
    void add(const Forest& forest, const InputBlock& block, double* out) const;

private:
    PaddedTrees shallow_;
    std::vector<index> deep_;
    index value_column_;
};

// The model's raw output, (rows, n_outputs), column-wise.
void predict(const Forest& forest, const Table& x, double* out, int n_threads);

// One column a group, output after output, (rows, groups), column-wise.
void group_features(const Forest& forest, const Table& x, double* out, int n_threads);

}  // namespace fasthdmr
