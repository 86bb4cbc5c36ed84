// Path weights. For each leaf and each set S of free variables: the total weight of the rows that leave the leaf's path
// at splits on S only. These sums give the exact interventional partial dependence on S.
#pragma once

#include <map>
#include <vector>

#include "forest/grouping.hpp"

namespace fasthdmr {

// The sets of variables that may be free together, numbered: all subsets of the given sets. The empty set is number 0.
class FreeSets {
public:
    FreeSets(index n_features, const std::vector<Subspace>& sets);

    index count() const { return index(number_.size()); }
    // The number of a set with a variable added; -1 if it is not one of the sets.
    std::int32_t with(std::int32_t set, std::int32_t variable) const {
        const std::int32_t number = free_number_[variable];
        return number < 0 ? -1 : with_[set * n_free_ + number];
    }
    // The numbers of all subsets of a set.
    std::vector<std::int32_t> subsets(const Subspace& set) const;

private:
    std::map<Subspace, std::int32_t> number_;
    std::vector<std::int32_t> free_number_;  // by variable: its number among those that may be free, or -1
    index n_free_ = 0;
    std::vector<std::int32_t> with_;  // by set and number of a free variable
};

// Rows as codes, one column for each column of a comparison, and the weights of the rows.
struct WeightedRows {
    index count = 0;
    Buffer<float> values;
    std::vector<double> weight;

    const float* column(index j) const { return values.data() + j * count; }
    void load(const Comparison& comparison, const Table& x, const double* weights, const Rows& rows, int n_threads);
};

// For each leaf, by node number, and each free set: the weight of the rows that leave the path to the leaf at splits on
// exactly the variables of the set.
std::vector<double> path_weights(const Forest& forest, index tree, const WeightedRows& rows, const FreeSets& free);

}  // namespace fasthdmr
