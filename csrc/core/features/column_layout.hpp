// What trees add to one column, by whichever is cheaper: lookup tables, or a walk through every tree.
#pragma once

#include <vector>

#include "features/lookup_tables.hpp"
#include "features/shallow_trees.hpp"
#include "support/parallel.hpp"

namespace fasthdmr {

// All tables that are made for one purpose together take no more.
constexpr std::uint64_t kTableBytes = std::uint64_t(8) << 20;

// What tables could stand for in a column.
struct Candidate {
    std::vector<Box> boxes;
    index walks = 0;       // the trees of depth <= 3 that the boxes are made of,
    index deep_walks = 0;  // and the deeper ones
};

struct ColumnSum {
    Tables tables;
    CodedTrees walked;

    void add(const RankedBlock& block, const Thresholds& thresholds, double* out) const {
        tables.add(block, out);
        walked.add(block, thresholds, out);
    }
};

bool need_codes(const std::vector<ColumnSum>& columns);
std::uint64_t bytes_of_tables(const std::vector<ColumnSum>& columns);

// Tables that columns could have, laid out but not filled, and the time that they would save.
struct TableOffers {
    std::vector<Candidate> candidates;
    std::vector<Tables> tables;
    std::vector<double> gains;
};

TableOffers offer_tables(const Thresholds& thresholds, std::vector<Candidate> candidates, int n_threads);

// Fills what pays, the most for a byte first, as far as the memory goes; the other tables become empty.
void choose_tables(const std::vector<TableOffers*>& offers, std::uint64_t most_bytes, int n_threads);

// Lays out the sums of several forests or outputs, which share the memory for tables.
template <class Sums>
void lay_out(const std::vector<Sums*>& sums, std::uint64_t table_bytes, int n_threads) {
    const index count = index(sums.size());
    const int inner = count > 1 ? 1 : n_threads;
    // From the last: ensembles tend to come by rising depth, and the largest should not be the last to begin.
    parallel_for(count, n_threads, [&](index k) { sums[count - 1 - k]->draft(inner); });
    std::vector<TableOffers*> offers;
    for (Sums* each : sums) offers.push_back(&each->offers());
    choose_tables(offers, table_bytes, n_threads);
    parallel_for(count, n_threads, [&](index k) { sums[count - 1 - k]->finish(inner); });
}

}  // namespace fasthdmr
