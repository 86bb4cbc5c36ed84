// y += a x, the sum of scaled columns that component functions are evaluated by.
#include "kernels/declarations.hpp"

namespace fasthdmr::FASTHDMR_ISA {

void add_scaled(double factor, const double* x, index rows, double* out) {
    for (index r = 0; r < rows; ++r) out[r] += factor * x[r];
}

}  // namespace fasthdmr::FASTHDMR_ISA
