// Blocks of rows -> blocks of feature columns (spec 4): one column a group of trees.
#pragma once

#include <memory>
#include <vector>

#include "forest.hpp"
#include "groups.hpp"

namespace fasthdmr {

// Rows of a block: few enough that a block of features and the sums stay in the first caches.
constexpr index kBlockRows = 512;

// A block of input rows as the trees see it: float32, column-wise.
class InputBlock {
public:
    explicit InputBlock(index n_features) : values_(n_features * kBlockRows) {}
    void load(const Table& x, const Rows& rows);

    const float* values() const { return values_.data(); }
    const float* row(index r) const { return values_.data() + r; }
    index rows() const { return rows_; }
    bool has_missing() const { return has_missing_; }

private:
    Buffer<float> values_;
    index rows_ = 0;
    bool has_missing_ = false;
};

// Trees whose leaf values are added up into one column, laid out for the kernels.
class TreeSum {
public:
    TreeSum(const Forest& forest, const std::vector<index>& trees, index output);
    void add(const Forest& forest, const InputBlock& block, double* out) const;

private:
    void add_with_missing(const Forest& forest, const InputBlock& block, double* out) const;

    struct Run {
        int depth;
        index first, count;
    };
    std::vector<ShallowTree> shallow_;
    std::vector<Run> runs_;
    std::vector<index> deep_;
    std::vector<index> trees_;
    index value_column_;
};

// The model's raw output, (rows, n_outputs), column-wise.
void predict(const Forest& forest, const Table& x, double* out, int n_threads);

// One column a group, output after output, (rows, groups), column-wise.
void group_features(const Forest& forest, const Table& x, double* out, int n_threads);

}  // namespace fasthdmr
