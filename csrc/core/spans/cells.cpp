#include "spans/cells.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace fasthdmr {

namespace {

// A binary search without branches, which would be mispredicted half of the time.
index count_not_above(const double* breaks, index n, double x) {
    const double* low = breaks;
    for (; n > 1; n -= n / 2) low += (low[n / 2 - 1] <= x) * (n / 2);
    return low - breaks + (n > 0 && *low <= x);
}

}  // namespace

void find_cells(const std::vector<double>& breaks, const Table& x, index column, index* cells) {
    if (column < 0 || column >= x.columns) throw Error("no such column: " + std::to_string(column));
    if (!std::is_sorted(breaks.begin(), breaks.end())) throw Error("breaks must ascend");
    const index n = index(breaks.size());
    for (index r = 0; r < x.rows; ++r) {
        const double value = x.at(r, column);
        cells[r] = std::isnan(value) ? n + 1 : count_not_above(breaks.data(), n, value);
    }
}

}  // namespace fasthdmr
