// Declares the kernels in the namespace of the instruction set that a file is compiled for: every file of kernels is
// compiled once for each of them.
#pragma once

#include "kernels/kernels.hpp"

namespace fasthdmr::FASTHDMR_ISA {

#define FASTHDMR_KERNEL(kernel, parameters) void kernel parameters;
#include "kernels/signatures.inc"
#undef FASTHDMR_KERNEL

}  // namespace fasthdmr::FASTHDMR_ISA
