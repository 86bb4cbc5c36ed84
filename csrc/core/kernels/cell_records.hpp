// Records of the kernel for sums over rows that are sorted by cell. As in records.hpp, no library headers with code.
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

}  // namespace fasthdmr
