// What trees add to one column, by whichever is cheaper: lookup tables, or a walk through every tree.
#pragma once

#include <vector>

#include "coded_trees.hpp"
#include "tables.hpp"

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

// The tables of the columns for which they pay; the others have none.
std::vector<Tables> worthwhile_tables(const Thresholds& thresholds, const std::vector<Candidate>& candidates,
                                      std::uint64_t most_bytes, int n_threads);

}  // namespace fasthdmr
