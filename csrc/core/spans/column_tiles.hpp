// Reads columns of X in tiles of some rows and several columns. In row-major order, neighbouring columns share cache
// lines: read one column after the other, each line would be fetched from memory several times.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "support/arrays.hpp"
#include "support/parallel.hpp"

namespace fasthdmr {

using ColumnUse = std::pair<index, index>;  // a column of X, and the number of what is computed from it

// Calls use(number, first, values, count) for tiles of at most 256 rows, which together are all rows: `values` are those
// of the column at the rows first, ..., first + count - 1, and may be overwritten. Uses are sorted.
template <class Use>
void for_tiles(const Table& x, const Rows& rows, const std::vector<ColumnUse>& uses, int n_threads, const Use& use) {
    constexpr index kTogether = 16, kTileRows = 256;
    const index groups = (index(uses.size()) + kTogether - 1) / kTogether;
    const index blocks = (rows.count + kBlockRows - 1) / kBlockRows;
    parallel_for(groups * blocks, n_threads, [&](index task) {
        const ColumnUse* own = uses.data() + task / blocks * kTogether;
        const index n_own = std::min(kTogether, index(uses.data() + uses.size() - own));
        const index begin = task % blocks * kBlockRows, end = std::min(begin + kBlockRows, rows.count);
        double tile[kTogether * kTileRows];
        for (index first = begin; first < end; first += kTileRows) {
            const index count = std::min(kTileRows, end - first);
            for (index r = 0; r < count; ++r)
                for (index k = 0; k < n_own; ++k) tile[k * kTileRows + r] = x.at(rows[first + r], own[k].first);
            for (index k = 0; k < n_own; ++k) use(own[k].second, first, tile + k * kTileRows, count);
        }
    });
}

}  // namespace fasthdmr
