// Quantisation: a value is replaced by its rank, the number of thresholds of its variable below it. Trees depend on x
// through these ranks only.
#pragma once

#include <vector>

#include "forest/forest.hpp"
#include "forest/row_block.hpp"

namespace fasthdmr {

// A code of 16 bits, copied to both halves of a word. Kernels compare codes in this form.
inline std::int32_t in_both_halves(std::int32_t code) { return std::int32_t(std::uint32_t(code & 0xffff) * 0x10001u); }

// The distinct thresholds of each variable, and the rank of each node's threshold among them.
class Thresholds {
public:
    Thresholds() = default;
    // The thresholds of the given inner nodes; nodes are numbered across all trees of the forest.
    Thresholds(const Forest& forest, const std::vector<std::int32_t>& nodes, int n_threads);
    // From the strictly increasing thresholds of each variable.
    explicit Thresholds(std::vector<std::vector<float>> sorted) : sorted_(std::move(sorted)) {}

    std::int32_t count(index variable) const { return std::int32_t(sorted_[variable].size()); }
    const float* sorted(index variable) const { return sorted_[variable].data(); }
    index variables() const { return index(sorted_.size()); }
    // A value goes right at the node if its rank is greater than the returned one. Available until `forget_nodes`.
    std::int32_t rank(const Forest& forest, index tree, index node) const {
        return rank_[forest.tree_begin(tree) + node];
    }
    // A missing value has the highest code at nodes that send it right, and the lowest code at nodes that send it left.
    // So each variable has up to two columns of codes, one for each kind of node. Returns -1 if there is no such node.
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
    std::vector<std::int32_t> rank_;          // by node; undefined for nodes not passed to the constructor
    std::vector<std::int32_t> code_column_;   // two for each variable: missing values go right, left
    std::int32_t code_columns_ = 0;
};

// The ranks of a block of rows. The rank of a missing value is the number of thresholds plus one.
class RankedBlock {
public:
    // code_sets = 0: no codes; 1: columns of codes; 2: also their complements. The input block must outlive this
    // object.
    RankedBlock(const Thresholds& thresholds, const InputBlock& block, int code_sets);

    index rows() const { return rows_; }
    index leading() const { return block_->leading(); }
    // Ranks in the column of a value set are computed at each call, because the callers, lookup tables, use few sets.
    const std::int32_t* ranks(index variable) const {
        if (variable >= block_->comparison().n_features()) rank_set(variable);
        return ranks_.data() + variable * leading();
    }
    // 16-bit codes for the kernels: leading() for each column of codes, then the complements (~code) of all columns.
    const std::int16_t* codes() const { return codes_.data(); }

private:
    void encode(const Thresholds& thresholds, index variable, bool with_complements);
    void encode_set(index column, std::int16_t* codes);
    void rank_set(index column) const;

    const InputBlock* block_;
    index rows_;
    mutable UnsetBuffer<std::int32_t> ranks_;
    UnsetBuffer<std::int16_t> codes_;
    index places_of_ = -1;  // the feature of places_, or -1
    std::vector<std::int16_t>
        places_;  // positions of its values in `outside`, as codes in the row order of the kernels
};

}  // namespace fasthdmr
