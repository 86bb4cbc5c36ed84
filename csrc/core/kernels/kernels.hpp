// The inner loops over rows, compiled once for each instruction set and chosen at run time.
#pragma once

#include "kernels/records.hpp"

namespace fasthdmr {

// Input is column-wise: variable f of row r is x[f * ld + r]. Kernels that add do so to out[r].
struct Kernels {
    const char* name;
    // A column of float64 or float32 numbers, `stride` bytes apart, as float32.
    void (*load)(const char* data, bool is_float32, index stride, index rows, float* out);
    // How many of the rising thresholds are below each value: its rank. That of NaN is n + 1.
    void (*rank)(const float* thresholds, std::int32_t n, const float* x, index rows, std::int32_t* ranks);
    // Ranks as 16-bit codes, in an order of rows that only this set of kernels knows; codes are written in whole tiles.
    void (*encode)(const std::int32_t* ranks, index rows, std::int16_t* codes);
    void (*add_coded)(const CodedTree* trees, index n_trees, int depth, const std::int16_t* codes, index ld, index rows,
                      double* out);
    void (*add_paths)(const CodedPaths* paths, index n_paths, const std::int16_t* codes, index ld, index rows,
                      double* out);
    // Adds cells[a[r] * stride + b[r]], where a and b are places[ranks[r]]; without b, cells[a[r]].
    void (*take)(const std::int32_t* places, const std::int32_t* ranks, index rows, std::int32_t* out);
    void (*add_cells)(const double* cells, std::int32_t stride, const std::int32_t* a, const std::int32_t* b,
                      index rows, double* out);
    // The leaf of a tree that each row ends at.
    void (*find_leaves)(const Node* tree, const std::uint8_t* missing_left, int depth, const float* x, index ld,
                        index rows, std::int32_t* leaf);
    void (*add_scaled)(double factor, const double* x, index rows, double* out);
    // Sums the weighted outer products of two sparse rows into g, row-major.
    void (*add_products)(const SparseRows& a, const SparseRows& b, const double* weight, index rows, double* g,
                         index ld);
    // Adds the weighted tensor products at some rows.
    void (*add_tensors)(const TensorRows& t, const double* weight, index rows, double* sums);
    // Adds value times the product of what each side gives at a row.
    void (*add_box)(const BoxSide* sides, index n_sides, double value, index rows, double* out);
    // Adds values[a] * values[b] * the product over sides of Cov(1_a, 1_b) to out[b - first], for b from `first` on.
    void (*add_covariances)(const SideWeights* sides, index n_sides, const double* values, index a, index first,
                            index count, double* out);
};

constexpr index kTile = 64;  // codes are read in whole tiles of rows

// The best set for this CPU; FASTHDMR_CPU=baseline|avx2|avx512 asks for another one.
const Kernels& kernels();

}  // namespace fasthdmr
