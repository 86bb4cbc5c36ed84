// The comparison in float64 for the nodes of a forest.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "forest/comparison.hpp"

namespace fasthdmr {

// The nodes of a forest as arrays, from a loader.
struct NodeArrays {
    index n_nodes;
    const std::int64_t *left, *right, *feature;
    const double* threshold;
    const std::int64_t* set = nullptr;  // by node: the number of its value set, or -1 for a threshold. Null: all -1
};

struct ComparedNodes {
    std::shared_ptr<const Comparison> comparison;
    std::vector<std::int64_t> set;  // by node: the number of its set in the comparison, or -1
    std::vector<float> code;        // by node: the code of its threshold; undefined for leaves and splits by sets
};

// Invalid splits are skipped here: the constructor of Forest reports them.
ComparedNodes compare_nodes(const NodeArrays& nodes, std::vector<Replacement> replaced, const SetCuts& cuts = {});

}  // namespace fasthdmr
