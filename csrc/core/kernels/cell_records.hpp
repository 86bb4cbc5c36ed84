// Records of the kernels for sums over rows that are sorted by cell. As in records.hpp, no library headers with code.
#pragma once

#include "kernels/records.hpp"

namespace fasthdmr {

// Rows that all add to the same products: entries first, ..., last - 1.
struct RowCell {
    std::int32_t first, last;
    index begin;  // the first of these products in the array of sums
};

// Products of left and right values. Those of four consecutive left values are contiguous in the array of sums, and those of the
// right values are a stride apart.
struct CellProducts {
    const double* left;           // (entries, width)
    int width;                    // 4 or 16
    const std::int32_t* offsets;  // of each four left values in the sums
    const double* const* right;   // value m of a row: right[m][row]
    int rights;
    index stride;
    const std::uint16_t* rows;  // by entry
    const RowCell* cells;
    index n_cells;
};

// On an interval between two knots, with coordinates from 0 to 1: polynomials, and truncated cubics
// max(0, scale (t - knot))^3. For missing values the first function is 1, and the others are 0.
constexpr int kMostTruncated = 5;
struct TruncatedCubic {
    double knot, scale;
};
struct CellInterval {
    const TruncatedCubic* truncated;
    int n_truncated, functions;  // functions: of all intervals of the variable
    bool is_missing;
};

// The four cubic Bernstein polynomials, those of degree 6 with the numbers 1, 3 and 5, and truncated cubics.
constexpr int kPolynomials = 7, kMostFunctions = kPolynomials + kMostTruncated;

// Rows of a cell, and its interval of each variable. The sums of its products begin at `begin`.
struct FunctionCell {
    std::int32_t first, last;
    index begin;
    CellInterval intervals[3];
};

// Products that are summed together, so that the sums stay in registers: of `count` <= 4 consecutive functions of one
// variable, from `first` on, with one or two products of a function of each other variable.
struct ProductTile {
    int variable, first, count, others;
    int function[2][2];  // of each product: the functions of the other variables, in their order
};
constexpr int kMostProducts = 64 + 3 * 16 * (kMostFunctions - 4);  // of a cell

struct CellFunctions {
    const double* coordinates[3];  // by row
    int variables;                 // 2 or 3
    const double* weight;          // by row
    const std::uint16_t* rows;     // by entry
    const FunctionCell* cells;
    index n_cells;
    const ProductTile* tiles;
    index n_tiles, n_products;  // for each cell
};

}  // namespace fasthdmr
