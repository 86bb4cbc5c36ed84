// Defines the table of kernels of one instruction set, such as kernels_avx2.
#include "kernels/declarations.hpp"

#define FASTHDMR_CONCAT_(a, b) a##b
#define FASTHDMR_CONCAT(a, b) FASTHDMR_CONCAT_(a, b)
#define FASTHDMR_STRING_(a) #a
#define FASTHDMR_STRING(a) FASTHDMR_STRING_(a)

namespace fasthdmr {

namespace FASTHDMR_ISA {
namespace {

constexpr Kernels table() {
    Kernels set{};
    set.name = FASTHDMR_STRING(FASTHDMR_ISA);
#define FASTHDMR_KERNEL(kernel, parameters) set.kernel = FASTHDMR_ISA::kernel;
#include "kernels/signatures.inc"
#undef FASTHDMR_KERNEL
    return set;
}

}  // namespace
}  // namespace FASTHDMR_ISA

extern const Kernels FASTHDMR_CONCAT(kernels_, FASTHDMR_ISA);
constexpr Kernels FASTHDMR_CONCAT(kernels_, FASTHDMR_ISA) = FASTHDMR_ISA::table();

}  // namespace fasthdmr
