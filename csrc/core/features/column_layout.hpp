// Layout of feature columns: a cost model decides for each column between lookup tables and traversal of its trees.
#pragma once

#include <vector>

#include "features/lookup_tables.hpp"
#include "features/shallow_trees.hpp"
#include "support/parallel.hpp"

namespace fasthdmr {

// Memory budget of all lookup tables of one object.
constexpr std::uint64_t kTableBytes = std::uint64_t(8) << 20;

// The part of a column that tables could replace.
struct Candidate {
    std::vector<Box> boxes;
    index walks = 0;       // trees of depth <= 3 that the boxes replace
    index deep_walks = 0;  // deeper trees that they replace
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

// Possible tables of columns, laid out but not filled, and the time that each would save.
struct TableOffers {
    std::vector<Candidate> candidates;
    std::vector<Tables> tables;
    std::vector<double> gains;
};

TableOffers offer_tables(const Thresholds& thresholds, std::vector<Candidate> candidates, int n_threads);

// Fills tables in order of time saved per byte, within the memory budget. The others become empty.
void choose_tables(const std::vector<TableOffers*>& offers, std::uint64_t most_bytes, int n_threads);

// Lays out the sums of several forests or outputs, which share the memory for tables.
template <class Sums>
void lay_out(const std::vector<Sums*>& sums, std::uint64_t table_bytes, int n_threads) {
    const index count = index(sums.size());
    const int inner = count > 1 ? 1 : n_threads;
    // From the last: ensembles often come by increasing depth, and the largest task should not start last.
    parallel_for(count, n_threads, [&](index k) { sums[count - 1 - k]->prepare(inner); });
    std::vector<TableOffers*> offers;
    for (Sums* each : sums) offers.push_back(&each->offers());
    choose_tables(offers, table_bytes, n_threads);
    parallel_for(count, n_threads, [&](index k) { sums[count - 1 - k]->finish(inner); });
}

}  // namespace fasthdmr
