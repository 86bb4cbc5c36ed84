// Rows sorted by cell, so that the sums over the rows of a cell stay in registers.
#pragma once

#include <cstdint>
#include <vector>

#include "support/arrays.hpp"

namespace fasthdmr {

// Sets `order` to the rows, at most 2^16, in the order of their cells; a row whose cell is -1 is left out. Calls
// use(cell, first, last) for each cell that has rows: order[first], ..., order[last - 1].
template <class Use>
void sort_by_cell(const std::vector<std::int32_t>& cell_of, index n_cells, std::vector<std::uint16_t>& order,
                  const Use& use) {
    std::vector<std::int32_t> next(n_cells + 1, 0);  // the place of the next row of each cell, from -1 on
    for (const std::int32_t cell : cell_of) ++next[cell + 1];
    std::int32_t done = next[0] = 0;
    for (index cell = 0; cell < n_cells; ++cell) {
        const std::int32_t first = done;
        done += next[cell + 1];
        next[cell + 1] = first;
        if (done > first) use(cell, first, done);
    }
    order.resize(done);
    for (std::size_t r = 0; r < cell_of.size(); ++r)
        if (cell_of[r] >= 0) order[next[cell_of[r] + 1]++] = std::uint16_t(r);
}

}  // namespace fasthdmr
