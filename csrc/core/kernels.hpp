// The inner loops over rows, compiled once for each instruction set and chosen at run time.
#pragma once

#include "layout.hpp"

namespace fasthdmr {

// Rows lie column-wise: feature f of row r is x[f * ld + r]. Every kernel adds to out[r] and expects no NaN in x.
struct Kernels {
    const char* name;
    void (*add_shallow)(const ShallowTree* trees, index n_trees, int depth, const float* x, index ld, index rows, double* out);
    void (*add_deep)(const Node* tree, int depth, const double* values, index width, const float* x, index ld, index rows,
                     double* out);
    void (*add_scaled)(double factor, const double* x, index rows, double* out);
    // Sums the weighted outer products of two sparse rows into g, row-major.
    void (*add_products)(const SparseRows& a, const SparseRows& b, const double* weight, index rows, double* g, index ld);
};

// The best set for this CPU; FASTHDMR_CPU=baseline|avx2|avx512 asks for another one.
const Kernels& kernels();

}  // namespace fasthdmr
