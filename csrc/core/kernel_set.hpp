// What kernels.cpp puts into its table: every file of kernels is compiled once for each instruction set, and each
// compilation has a namespace of its own.
#pragma once

#include "kernels.hpp"

namespace fasthdmr::FASTHDMR_ISA {

void add_shallow(const ShallowTree* trees, index n_trees, int depth, const float* x, index ld, index rows, double* out);
void add_deep(const Node* tree, int depth, const double* values, index width, const float* x, index ld, index rows,
              double* out);
void add_scaled(double factor, const double* x, index rows, double* out);
void add_products(const SparseRows& a, const SparseRows& b, const double* weight, index rows, double* g, index ld);

}  // namespace fasthdmr::FASTHDMR_ISA
