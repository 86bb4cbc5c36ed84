// Records of the kernels for sums over rows that are sorted by cell. As in records.hpp, no library headers with code.
#pragma once

#include "kernels/records.hpp"

namespace fasthdmr {

// Rows that all add to the same products: entries first, ..., last - 1.
struct RowCell {
    std::int32_t first, last;
    index begin;  // the first of these products in the array of sums
};

// Products of the splines of one or two axes, four of each axis at a row, and of functions. Those with the last splines
// are contiguous in the array of sums, and those of the functions are a stride apart.
struct CellProducts {
    const double *first, *last;   // (rows, 4); first is null if there is only one axis
    const double* factor;         // by row
    const std::int32_t* offsets;  // of each of the first splines in the sums
    const double* const* functions;
    int n_functions;
    index stride;
    const std::uint16_t* rows;  // by entry
    const RowCell* cells;
    index n_cells;
};

constexpr int kCellVariables = 3;

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
constexpr int kCubics = 4, kPolynomials = 7, kMostFunctions = kPolynomials + kMostTruncated;

// Rows of a cell, and its interval of each variable. The sums of its products begin at `begin`.
struct FunctionCell {
    std::int32_t first, last;
    index begin;
    CellInterval intervals[kCellVariables];
};

// Products that are summed together, so that the sums stay in registers: of the cubics of one variable with four
// products of functions of the other variables, in their order.
constexpr int kTileOthers = 4, kTileProducts = kTileOthers * kCubics;
struct ProductTile {
    int variable;
    int function[kTileOthers][kCellVariables - 1];
};

struct CellFunctions {
    const double* coordinates[kCellVariables];  // by row
    const double* weight;                       // by row
    const std::uint16_t* rows;                  // by entry
    const FunctionCell* cells;
    index n_cells;
    const ProductTile* tiles;  // for each cell
    index n_tiles;
};

}  // namespace fasthdmr
