// Quantisation: a value becomes the number of thresholds of its variable that lie below it, its rank. Trees depend on x
// through these ranks only.
#pragma once

#include <vector>

#include "forest/forest.hpp"
#include "forest/row_block.hpp"

namespace fasthdmr {

// The 16 bits of a code in both halves of a word, as kernels compare codes.
inline std::int32_t in_both_halves(std::int32_t code) { return std::int32_t(std::uint32_t(code & 0xffff) * 0x10001u); }

class Thresholds {
public:
    Thresholds() = default;
    // The thresholds of the given inner nodes, which are numbered through the whole forest.
    Thresholds(const Forest& forest, const std::vector<std::int32_t>& nodes, int n_threads);
    // From the strictly increasing thresholds of each variable.
    explicit Thresholds(std::vector<std::vector<float>> sorted) : sorted_(std::move(sorted)) {}

    std::int32_t count(index variable) const { return std::int32_t(sorted_[variable].size()); }
    const float* sorted(index variable) const { return sorted_[variable].data(); }
    index variables() const { return index(sorted_.size()); }
    // A value goes right at the node if its rank is greater than this. Available until `forget_nodes`.
    std::int32_t rank(const Forest& forest, index tree, index node) const {
        return rank_[forest.tree_begin(tree) + node];
    }
    // Nodes that send missing values right compare codes in which a missing value has the highest code; those that send
    // it left, codes in which it has the lowest. Each variable has a column of codes for either kind of node that
    // occurs, else -1.
    std::int32_t code_column(index variable, bool missing_left) const {
        return code_column_[2 * variable + missing_left];
    }
    std::int32_t code_column(const Forest& forest, index tree, index node) const {
        return code_column(forest.tree(tree)[node].feature, forest.missing_left(tree)[node] != 0);
    }
    std::int32_t code_columns() const { return code_columns_; }
    void forget_nodes() { std::vector<std::int32_t>().swap(rank_); }

private:
    std::vector<std::vector<float>> sorted_;  // by variable, without duplicates
    std::vector<std::int32_t> rank_;          // by node; undefined for nodes that were not given
    std::vector<std::int32_t> code_column_;   // two per variable: missing values right, left
    std::int32_t code_columns_ = 0;
};

// The ranks of a block of rows. The rank of a missing value is the number of thresholds plus one.
class RankedBlock {
public:
    // code_sets: 0, no codes; 1, columns of codes; 2, also their complements. The input block must outlive this.
    RankedBlock(const Thresholds& thresholds, const InputBlock& block, int code_sets);

    index rows() const { return rows_; }
    // Ranks of a set of values are computed at each call, because lookup tables use few sets.
    const std::int32_t* ranks(index variable) const {
        if (variable >= block_->comparison().n_features()) rank_set(variable);
        return ranks_.data() + variable * kBlockRows;
    }
    // 16-bit codes for the kernels: kBlockRows per column of codes, followed by the complements (~code) of all of them.
    const std::int16_t* codes() const { return codes_.data(); }

private:
    void encode(const Thresholds& thresholds, index variable, bool with_complements);
    void encode_set(index column, std::int16_t* codes);
    void rank_set(index column) const;

    const InputBlock* block_;
    index rows_;
    mutable UnsetBuffer<std::int32_t> ranks_;
    UnsetBuffer<std::int16_t> codes_;
    index places_of_ = -1;              // the variable of places_, or -1
    std::vector<std::int16_t> places_;  // the codes of its values, in the order of the kernels
};

}  // namespace fasthdmr
