// Slow, readable stand-ins for the LAPACK routines that the core calls: only what the core relies on.
#pragma once

#include "linalg/lapack.hpp"

namespace fasthdmr {

Lapack reference_lapack();

}  // namespace fasthdmr
