#include "forest/quantiser.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/kernels.hpp"
#include "support/parallel.hpp"
#include "support/sorting.hpp"

namespace fasthdmr {

namespace {

// A sort key. Upper 32 bits: the threshold, mapped to an integer in the same order. Lower 32 bits: its node.
std::uint64_t sort_key(float threshold, std::int32_t node) {
    threshold += 0.0f;  // turns -0 into 0, which is equal to it
    std::uint32_t bits;
    std::memcpy(&bits, &threshold, sizeof bits);
    bits ^= bits >> 31 ? ~std::uint32_t(0) : std::uint32_t(1) << 31;
    return std::uint64_t(bits) << 32 | std::uint32_t(node);
}

}  // namespace

Thresholds::Thresholds(const Forest& forest, const std::vector<std::int32_t>& nodes, int n_threads)
    : sorted_(forest.columns()), rank_(nodes.empty() ? 0 : forest.n_nodes()), code_column_(2 * forest.columns(), -1) {
    const Node* all = forest.n_trees() ? forest.tree(0) : nullptr;
    std::vector<std::vector<std::uint64_t>> of(forest.columns());
    for (const std::int32_t m : nodes) {
        of[all[m].feature].push_back(sort_key(all[m].threshold, m));
        std::int32_t& column = code_column_[2 * all[m].feature + (forest.missing_left(0)[m] != 0)];
        if (column < 0) column = code_columns_++;
    }
    parallel_for(forest.columns(), n_threads, [&](index variable) {
        auto& entries = of[variable];
        sort_in_steps(entries);
        std::vector<float>& sorted = sorted_[variable];
        for (const std::uint64_t entry : entries) {
            const float threshold = all[std::uint32_t(entry)].threshold;
            if (sorted.empty() || sorted.back() < threshold) sorted.push_back(threshold);
            rank_[std::uint32_t(entry)] = std::int32_t(sorted.size()) - 1;
        }
        std::vector<std::uint64_t>().swap(entries);
    });
}

RankedBlock::RankedBlock(const Thresholds& thresholds, const InputBlock& block, int code_sets)
    : block_(&block),
      rows_(block.rows()),
      ranks_(thresholds.variables() * block.leading()),
      codes_(code_sets * std::max(thresholds.code_columns(), 1) *
             block.leading()) {  // trees without splits read a column too
    for (index v = 0; v < thresholds.variables(); ++v) {
        const std::int32_t n = thresholds.count(v);
        if (n == 0) continue;
        if (v < block.comparison().n_features())
            kernels().rank(thresholds.sorted(v), n, block.values(v), rows_, ranks_.data() + v * leading());
        if (code_sets > 0 && n <= kMostThresholds) encode(thresholds, v, code_sets > 1);
    }
}

void RankedBlock::encode(const Thresholds& thresholds, index variable, bool with_complements) {
    const index places = leading();
    const std::int16_t missing = std::int16_t(thresholds.count(variable) + 1 + kLowestCode), lowest = kLowestCode;
    const std::int16_t* first = nullptr;
    for (const bool missing_left : {false, true}) {
        const index column = thresholds.code_column(variable, missing_left);
        if (column < 0) continue;
        std::int16_t* codes = codes_.data() + column * leading();
        if (first) std::copy_n(first, places, codes);
        else if (variable < block_->comparison().n_features()) kernels().encode(ranks(variable), rows_, codes);
        else encode_set(variable, codes);
        first = codes;
        if (missing_left && block_->has_missing())
            for (index r = 0; r < places; ++r) codes[r] = codes[r] == missing ? lowest : codes[r];
        if (!with_complements) continue;
        std::int16_t* complements = codes + thresholds.code_columns() * leading();
        for (index r = 0; r < places; ++r) complements[r] = std::int16_t(~codes[r]);
    }
}

namespace {

// The position in `outside` of a value of the set's variable, given by its code.
std::int32_t place_of(float code, index places) { return code != code ? std::int32_t(places) - 1 : std::int32_t(code); }

}  // namespace

// The kernels' order of rows is applied to the codes of a variable once, and the result used for all of its sets.
void RankedBlock::encode_set(index column, std::int16_t* codes) {
    const std::uint8_t* outside = block_->comparison().outside(column);
    const index places = block_->comparison().codes_and_missing(column);
    if (places > index(1) << 16) return kernels().encode(ranks(column), rows_, codes);
    const index feature = block_->comparison().feature(column);
    if (places_of_ != feature) {
        std::vector<std::int32_t> unordered(leading(), 0);
        const float* values = block_->values(feature);
        for (index r = 0; r < rows_; ++r) unordered[r] = place_of(values[r], places);
        places_.resize(unordered.size());
        kernels().encode(unordered.data(), index(unordered.size()), places_.data());
        places_of_ = feature;
    }
    for (std::size_t r = 0; r < places_.size(); ++r)
        codes[r] = std::int16_t(outside[std::uint16_t(places_[r] - kLowestCode)] + kLowestCode);
}

void RankedBlock::rank_set(index column) const {
    const std::uint8_t* outside = block_->comparison().outside(column);
    const index places = block_->comparison().codes_and_missing(column);
    const float* values = block_->values(block_->comparison().feature(column));
    std::int32_t* ranks = ranks_.data() + column * leading();
    for (index r = 0; r < rows_; ++r) ranks[r] = outside[place_of(values[r], places)];
}

}  // namespace fasthdmr
