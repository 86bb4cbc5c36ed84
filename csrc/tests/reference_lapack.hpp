// Slow, readable replacements of the LAPACK routines that the core calls, for the cases that the core needs.
#pragma once

#include "linalg/lapack.hpp"

namespace fasthdmr {

Lapack reference_lapack();

}  // namespace fasthdmr
