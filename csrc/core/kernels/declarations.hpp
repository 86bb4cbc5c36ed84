// Declares the kernels in the namespace of the instruction set that the including file is compiled for. Every kernel
// file is compiled once for each instruction set.
#pragma once

#include "kernels/kernels.hpp"

namespace fasthdmr::FASTHDMR_ISA {

#define FASTHDMR_KERNEL(kernel, parameters) void kernel parameters;
#include "kernels/signatures.inc"
#undef FASTHDMR_KERNEL

}  // namespace fasthdmr::FASTHDMR_ISA
