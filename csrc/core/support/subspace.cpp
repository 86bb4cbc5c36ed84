#include "support/subspace.hpp"

namespace fasthdmr {

bool precedes(const Subspace& a, const Subspace& b) { return a.size() != b.size() ? a.size() < b.size() : a < b; }

}  // namespace fasthdmr
