// The type of a subspace, identified by its set of variables.
#pragma once

#include <vector>

#include "support/arrays.hpp"

namespace fasthdmr {

using Subspace = std::vector<std::int32_t>;  // sorted variable numbers

// Whether `a` comes before `b`: fewer variables first, then lexicographically. Columns are always sorted this way.
bool precedes(const Subspace& a, const Subspace& b);

}  // namespace fasthdmr
