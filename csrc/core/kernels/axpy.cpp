// y += a x. Component functions are evaluated as such sums of scaled columns.
#include "kernels/declarations.hpp"

namespace fasthdmr::FASTHDMR_ISA {

void add_scaled(double factor, const double* x, index rows, double* out) {
    for (index r = 0; r < rows; ++r) out[r] += factor * x[r];
}

}  // namespace fasthdmr::FASTHDMR_ISA
