// The inner loops over rows, compiled once for each instruction set and chosen at run time.
#pragma once

#include "kernels/records.hpp"

namespace fasthdmr {

// The kernels of one instruction set, as pointers; signatures.inc lists and explains them.
struct Kernels {
    const char* name;  // of the instruction set
#define FASTHDMR_KERNEL(kernel, parameters) void(*kernel) parameters;
#include "kernels/signatures.inc"
#undef FASTHDMR_KERNEL
};

constexpr index kTile = 64;  // codes are read in whole tiles of rows

// The best set for this CPU; FASTHDMR_CPU=baseline|avx2|avx512 asks for another one.
const Kernels& kernels();

}  // namespace fasthdmr
