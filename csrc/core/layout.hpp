// Plain data that the kernels see. No library header with inline code may be included here: the files of kernels are
// compiled once an instruction set, the linker keeps one copy of an inline function, and a baseline machine must not
// get AVX.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fasthdmr {

using index = std::ptrdiff_t;

// The right child is left + 1. A leaf is its own left child: its threshold, +inf, sends every number there.
struct Node {
    float threshold;
    std::int32_t feature;
    std::int32_t left;
};

constexpr int kShallowDepth = 3;

// A tree of depth <= 3 as a complete one in heap order; short branches are padded with copies of their leaf.
struct ShallowTree {
    std::int32_t feature[7];
    float threshold[7];
    double leaf[8];
};

// Rows that touch a few stretches of neighbouring columns, all of one length: values (rows, runs, run), the first column
// of each stretch (rows, runs).
struct SparseRows {
    const double* values;
    const std::int32_t* starts;
    index runs;
    int run;
};

}  // namespace fasthdmr
