// The values of single variables and their weights, from whose quantiles knots are chosen.
#pragma once

#include <vector>

#include "support/arrays.hpp"

namespace fasthdmr {

// The distinct finite values of a column, ascending, and the total weight of each; whether a row with weight has none.
struct Profile {
    std::vector<double> values, weights;
    bool has_missing = false;
};

// The profile of each of the given columns on the rows 0, step, 2 step, … A row weighs 1 if `weight` is null.
std::vector<Profile> profiles(const Table& x, const double* weight, index step, const std::vector<index>& columns,
                              int n_threads);

}  // namespace fasthdmr
