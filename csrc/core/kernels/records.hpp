// Plain records that kernels read. Kernel files are compiled once for each instruction set. The linker keeps one copy
// of an inline function, which must not be one with AVX: no library header with inline code may be included here.
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

// A tree of depth <= 3 as a complete binary tree in heap order; short branches are padded with copies of their leaf.
// Inputs are quantised to 16-bit codes, rank + kLowestCode, so that a register holds many of them.
struct alignas(64) CodedTree {
    double leaf[8];
    std::int32_t variable[7];
    std::int32_t code[7];       // higher codes go right; the 16 bits are stored twice
    std::uint8_t missing_left;  // one bit for each node
};

// Two paths of up to three splits each, padded at the front. The last split chooses between two values. All comparisons
// are "greater": where the path goes left, complements of codes are compared, stored behind those of all variables.
struct alignas(64) CodedPaths {
    // value[3 * i + j]: outcome i of path 1 plus outcome j of path 2. Outcome 0: the row leaves the path; 1: left leaf; 2:
    // right leaf.
    double value[9];
    std::int32_t variable[6];  // of the first path, then of the second
    std::int32_t code[6];
    std::uint8_t missing;  // one bit for each comparison: its result for a missing value
};

constexpr std::int32_t kLowestCode = -32768;
constexpr std::int32_t kNeverRight = 32767;  // the code of a padding node
constexpr index kMostThresholds = 65533;     // with ranks up to their number, one for missing values, and kNeverRight

// Sparse rows whose nonzeros are a few runs of neighbouring columns, all of one length: values (rows, runs, run), and
// the first column of each run (rows, runs).
struct SparseRows {
    const double* values;
    const std::int32_t* starts;
    index runs;
    int run;
};

// One side of a box at a block of rows. Inside are ranks in [low, low + width), and perhaps the rank of missing values.
struct BoxSide {
    const std::int32_t* ranks;
    std::int32_t low;
    std::uint32_t width;
    std::int32_t missing;  // -1: missing values are outside
    double inside, outside;
};

// One side of many boxes as probabilities: cumulative ones of its ends, that of missing values inside, and the total.
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
