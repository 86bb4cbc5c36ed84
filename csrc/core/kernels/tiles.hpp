// Tiles of rows for the kernels that compare 16-bit codes: the order of the rows of a tile, and loops over tiles.
#pragma once

#include "kernels/kernels.hpp"

namespace fasthdmr::FASTHDMR_ISA {

// Position of a row's code in the array of codes. Rows are permuted within a tile such that each register permutation
// of the kernels gives the values of consecutive rows.
inline index position_in_tile(index row) {
#if defined(__AVX512BW__)
    return row / 32 * 32 + row % 8 * 4 + row % 32 / 8;
#elif defined(__AVX2__)
    constexpr index lane[8] = {0, 1, 4, 5, 2, 3, 6, 7};
    return row / 16 * 16 + lane[row % 8] * 2 + row % 16 / 8;
#else
    return row;
#endif
}

// Calls add(first row, sums) for every tile. An incomplete last tile is padded with zeros.
template <class Add>
void for_each_tile(index rows, double* out, const Add& add) {
    index r = 0;
    for (; r + kTile <= rows; r += kTile) add(r, out + r);
    if (r == rows) return;
    double rest[kTile] = {};
    for (index k = 0; k < rows - r; ++k) rest[k] = out[r + k];
    add(r, rest);
    for (index k = 0; k < rows - r; ++k) out[r + k] = rest[k];
}

}  // namespace fasthdmr::FASTHDMR_ISA
