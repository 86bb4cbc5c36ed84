#include "forest/quantiser.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/kernels.hpp"
#include "support/parallel.hpp"
#include "support/sorting.hpp"

namespace fasthdmr {

namespace {

// A sort key: the threshold in the upper 32 bits, in a form that sorts as integers do, and its node in the lower.
std::uint64_t sort_key(float threshold, std::int32_t node) {
    threshold += 0.0f;  // -0 is equal to 0
    std::uint32_t bits;
    std::memcpy(&bits, &threshold, sizeof bits);
    bits ^= bits >> 31 ? ~std::uint32_t(0) : std::uint32_t(1) << 31;
    return std::uint64_t(bits) << 32 | std::uint32_t(node);
}

// Codes are written in whole tiles of rows.
index round_up_to_tile(index rows) { return (rows + kTile - 1) / kTile * kTile; }

}  // namespace

Thresholds::Thresholds(const Forest& forest, const std::vector<std::int32_t>& nodes, int n_threads)
    : sorted_(forest.columns()), rank_(nodes.empty() ? 0 : forest.n_nodes()) {
    const Node* all = forest.n_trees() ? forest.tree(0) : nullptr;
    std::vector<std::vector<std::uint64_t>> of(forest.columns());
    for (const std::int32_t m : nodes) of[all[m].feature].push_back(sort_key(all[m].threshold, m));
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

RankedBlock::RankedBlock(const Thresholds& thresholds, const InputBlock& block, bool with_codes)
    : rows_(block.rows()),
      ranks_(thresholds.variables() * kBlockRows),
      codes_(with_codes ? 2 * thresholds.variables() * kBlockRows : 0) {
    std::vector<char> is_missing(block.has_missing() ? rows_ : 0, 0);
    for (index v = 0; v < thresholds.variables(); ++v) {
        const std::int32_t n = thresholds.count(v);
        if (n == 0) continue;
        std::int32_t* ranks = ranks_.data() + v * kBlockRows;
        kernels().rank(thresholds.sorted(v), n, block.values() + v * kBlockRows, rows_, ranks);
        if (with_codes && n <= kMostThresholds) {
            std::int16_t* codes = codes_.data() + v * kBlockRows;
            kernels().encode(ranks, rows_, codes);
            std::int16_t* complements = codes + thresholds.variables() * kBlockRows;
            for (index r = 0; r < round_up_to_tile(rows_); ++r) complements[r] = std::int16_t(~codes[r]);
        }
        for (std::size_t r = 0; r < is_missing.size(); ++r) is_missing[r] |= ranks[r] > n;
    }
    for (std::size_t r = 0; r < is_missing.size(); ++r)
        if (is_missing[r]) missing_.push_back(index(r));
}

}  // namespace fasthdmr
