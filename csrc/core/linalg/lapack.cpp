#include "linalg/lapack.hpp"

namespace fasthdmr {

namespace {

Lapack routines{};

}  // namespace

const Lapack& lapack() { return routines; }
void set_lapack(const Lapack& given) { routines = given; }

}  // namespace fasthdmr
