// The table of kernels: inner loops over rows, compiled once for each instruction set and selected at run time.
#pragma once

#include "kernels/cell_records.hpp"

namespace fasthdmr {

// Pointers to the kernels of one instruction set; signatures.inc documents each.
struct Kernels {
    const char* name;  // of the instruction set
#define FASTHDMR_KERNEL(kernel, parameters) void(*kernel) parameters;
#include "kernels/signatures.inc"
#undef FASTHDMR_KERNEL
};

constexpr index kTile = 64;  // rows of a tile; 16-bit codes are processed in whole tiles

// The kernels of the best instruction set of this CPU, or of the one in the environment variable FASTHDMR_CPU
// (baseline, avx2, avx512) if the CPU supports it.
const Kernels& kernels();

}  // namespace fasthdmr
