// Plain records that kernels read. Kernel files are compiled once for each instruction set, and the linker keeps one
// copy of an inline function. That copy must not contain AVX instructions, so this header must not include library
// headers with inline code.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fasthdmr {

using index = std::ptrdiff_t;

// An inner node sends x to its left child if x <= threshold; the right child is left + 1. A leaf is its own left child
// and has the threshold +inf, so that a row at a leaf stays there.
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
    std::int32_t variable[7];  // of each node, its column of codes
    std::int32_t code[7];      // higher codes go right; the 16 bits are stored twice
};

// Two paths of up to three splits each, padded at the front. The last split of a path chooses between two values; a row
// that leaves the path before has neither. All comparisons are "greater": where a path goes left, the complements of
// codes are compared, which are stored after all columns of codes.
struct alignas(64) CodedPaths {
    // value[3 * i + j]: outcome i of path 1 plus outcome j of path 2. Outcome 0: the row leaves the path; 1: left leaf;
    // 2: right leaf.
    double value[9];
    std::int32_t variable[6];  // of the first path, then of the second
    std::int32_t code[6];
};

constexpr std::int32_t kLowestCode = -32768;
constexpr std::int32_t kNeverRight = 32767;  // the code of a padding node
constexpr index kMostThresholds = 65533;     // with ranks up to their number, one for missing values, and kNeverRight

// Sparse rows whose nonzeros lie in a few runs of neighbouring columns, all of the same length: values
// (rows, runs, run), and the first column of each run (rows, runs).
struct SparseRows {
    const double* values;
    const std::int32_t* starts;
    index runs;
    int run;
};

// A function of one variable's rank, at a block of rows: `inside` for ranks in [low, low + width) and for the rank
// `missing`, and `outside` for all others.
struct IntervalFactor {
    const std::int32_t* ranks;
    std::int32_t low;
    std::uint32_t width;
    std::int32_t missing;  // the rank of missing values, or -1 if they are outside
    double inside, outside;
};

// Of many boxes, the intervals in one variable as probabilities: the cumulative probabilities at both ends, the
// probability of a missing value if that is inside, and the probability of the interval with it.
struct IntervalProbabilities {
    const double *low, *high, *missing, *total;
};

// Tensor products at rows: every factor has a few nonzero values at each row. In the array of sums, the values of the
// last factor are contiguous, and those of the factor before it are a stride apart.
constexpr int kMostFactors = 6;
struct TensorRows {
    const double* values[kMostFactors];  // (rows, run)
    int runs[kMostFactors];              // 4 or 8
    int factors;
    index stride;
    const std::int32_t* offsets;  // by product of the values of all factors but the last two: relative to `begin`
    const std::int32_t* begin;    // by row: the first position in the sums that the row adds to
};

}  // namespace fasthdmr
