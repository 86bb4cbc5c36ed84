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

// A tree of depth <= 3 as a complete one in heap order; short branches are padded with copies of their leaf. Values are
// known by their ranks among a variable's thresholds, in 16 bits, the least first: a vector holds many of them.
struct alignas(64) CodedTree {
    double leaf[8];
    std::int32_t variable[7];
    std::int32_t code[7];       // a value of a higher code goes right; twice the same 16 bits
    std::uint8_t missing_left;  // a bit a node
};

// Two paths of up to three splits, padded in front. All compares say "greater": a split that the path leaves to the left
// compares complements, whose variables come behind the others. The last split chooses between two values.
struct alignas(64) CodedPaths {
    double value[9];  // by 3 i + j, where the first path gives its value number i and the second number j; 0: passed by
    std::int32_t variable[6];  // of the first path, then of the second
    std::int32_t code[6];
    std::uint8_t missing;  // a bit a compare: what a missing value answers
};

constexpr std::int32_t kLowestCode = -32768;
constexpr std::int32_t kNeverRight = 32767;  // the code of a padding node
constexpr index kMostThresholds = 65533;     // with ranks up to their number, one for missing values, and kNeverRight

// Rows that touch a few stretches of neighbouring columns, all of one length: values (rows, runs, run), the first column
// of each stretch (rows, runs).
struct SparseRows {
    const double* values;
    const std::int32_t* starts;
    index runs;
    int run;
};

// One side of a box at a block of rows: ranks of a stretch from `low` on, and perhaps that of missing values, are inside.
struct BoxSide {
    const std::int32_t* ranks;
    std::int32_t low;
    std::uint32_t width;
    std::int32_t missing;  // -1: missing values are outside
    double inside, outside;
};

// A side of many boxes as weights of their ranks: where the stretch begins and ends, what missing values add, the sum.
struct SideWeights {
    const double *low, *high, *missing, *probability;
};

// Tensor products of a few values of each of some factors, at rows. Values of the last factor belong in neighbouring
// places, those of the one before in places a stride apart.
constexpr int kMostFactors = 6;
struct TensorRows {
    const double* values[kMostFactors];  // (rows, run)
    int runs[kMostFactors];              // 4 or 8
    int factors;
    index stride;
    const std::int32_t* offsets;  // by product of the factors but the last two, from the first place that a row touches
    const std::int32_t* begin;    // by row, that place
};

}  // namespace fasthdmr
