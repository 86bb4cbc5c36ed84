// Layout of feature columns: a cost model decides for each column whether lookup tables replace the traversal of trees.
#pragma once

#include <vector>

#include "features/lookup_tables.hpp"
#include "features/paired_paths.hpp"
#include "features/shallow_trees.hpp"
#include "support/parallel.hpp"

namespace fasthdmr {

// Memory budget of all lookup tables that are laid out together.
constexpr std::uint64_t kTableBytes = std::uint64_t(8) << 20;

// The part of a column that tables could represent, as boxes, and the trees that would then not be traversed.
struct Candidate {
    std::vector<Box> boxes;
    index shallow_trees = 0;  // of depth <= 3
    index deep_trees = 0;
};

// A column as the sum of its lookup tables, of shallow trees and of paths.
struct ColumnSum {
    Tables tables;
    CodedTrees trees;
    PairedPaths paths;

    void add(const RankedBlock& block, double* out) const {
        tables.add(block, out);
        trees.add(block, out);
        paths.add(block, out);
    }
};

// The argument `code_sets` of RankedBlock.
int needed_code_sets(const std::vector<ColumnSum>& columns);
std::uint64_t bytes_of_tables(const std::vector<ColumnSum>& columns);

// The tables of all candidates, laid out but not filled, and the time that each would save.
struct CandidateTables {
    std::vector<Candidate> candidates;
    std::vector<Tables> tables;
    std::vector<double> gains;
};

CandidateTables lay_out_tables(const Thresholds& thresholds, std::vector<Candidate> candidates, int n_threads);

// Fills tables in the order of time saved per byte, within the memory budget. The others become empty.
void choose_tables(const std::vector<CandidateTables*>& all, std::uint64_t most_bytes, int n_threads);

// Two-phase construction of several objects, for forests or outputs. prepare() of each object depends on that object
// only. Then tables are chosen within the memory budget that all share, and finish() completes the objects.
template <class Sums>
void lay_out(const std::vector<Sums*>& sums, std::uint64_t table_bytes, int n_threads) {
    const index count = index(sums.size());
    const int inner = count > 1 ? 1 : n_threads;
    // In reverse: ensembles are often given by increasing depth, and the largest task should not start last.
    parallel_for(count, n_threads, [&](index k) { sums[count - 1 - k]->prepare(inner); });
    std::vector<CandidateTables*> tables;
    for (Sums* each : sums) tables.push_back(&each->candidate_tables());
    choose_tables(tables, table_bytes, n_threads);
    parallel_for(count, n_threads, [&](index k) { sums[count - 1 - k]->finish(inner); });
}

}  // namespace fasthdmr
