// What kernels.cpp puts into its table: every file of kernels is compiled once for each instruction set, and each
// compilation has a namespace of its own.
#pragma once

#include "kernels/kernels.hpp"

namespace fasthdmr::FASTHDMR_ISA {

void load(const char* data, bool is_float32, index stride, index rows, float* out);
void rank(const float* thresholds, std::int32_t n, const float* x, index rows, std::int32_t* ranks);
void encode(const std::int32_t* ranks, index rows, std::int16_t* codes);
void add_coded(const CodedTree* trees, index n_trees, int depth, const std::int16_t* codes, index ld, index rows,
               double* out);
void add_paths(const CodedPaths* paths, index n_paths, const std::int16_t* codes, index ld, index rows, double* out);
void take(const std::int32_t* places, const std::int32_t* ranks, index rows, std::int32_t* out);
void add_cells(const double* cells, std::int32_t stride, const std::int32_t* a, const std::int32_t* b, index rows,
               double* out);
void find_leaves(const Node* tree, const std::uint8_t* missing_left, int depth, const float* x, index ld, index rows,
                 std::int32_t* leaf);
void add_scaled(double factor, const double* x, index rows, double* out);
void add_products(const SparseRows& a, const SparseRows& b, const double* weight, index rows, double* g, index ld);
void add_tensors(const TensorRows& t, const double* weight, index rows, double* sums);
void add_box(const BoxSide* sides, index n_sides, double value, index rows, double* out);
void add_covariances(const SideWeights* sides, index n_sides, const double* values, index a, index first, index count,
                     double* out);

}  // namespace fasthdmr::FASTHDMR_ISA
