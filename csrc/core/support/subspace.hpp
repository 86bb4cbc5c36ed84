// A subspace: a set of variables.
#pragma once

#include <vector>

#include "support/arrays.hpp"

namespace fasthdmr {

using Subspace = std::vector<std::int32_t>;  // sorted variable numbers

// By order, then lexicographically: the order of columns everywhere.
bool precedes(const Subspace& a, const Subspace& b);

}  // namespace fasthdmr
