#include "spans/cells.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "support/parallel.hpp"

namespace fasthdmr {

namespace {

// A binary search without branches, which would be mispredicted half of the time.
index count_not_above(const double* breaks, index n, double x) {
    const double* low = breaks;
    for (; n > 1; n -= n / 2) low += (low[n / 2 - 1] <= x) * (n / 2);
    return low - breaks + (n > 0 && *low <= x);
}

}  // namespace

void find_cells(const CellAxis& axis, const Table& x, index* cells) {
    if (axis.column < 0 || axis.column >= x.columns) throw Error("no such column: " + std::to_string(axis.column));
    if (!std::is_sorted(axis.breaks.begin(), axis.breaks.end())) throw Error("breaks must ascend");
    const index n = index(axis.breaks.size());
    for (index r = 0; r < x.rows; ++r) {
        const double value = x.at(r, axis.column);
        const bool is_missing = std::isnan(value) || (axis.is_categorical && !(axis.low <= value && value < axis.high));
        cells[r] = is_missing ? axis.count() - 1 : count_not_above(axis.breaks.data(), n, value);
    }
}

std::vector<std::vector<char>> occupied_cells(const std::vector<CellAxis>& axes,
                                              const std::vector<std::pair<index, index>>& pairs, const Table& x,
                                              const double* weight, int n_threads) {
    constexpr index kPanel = 16 * kBlockRows;
    const index n_axes = index(axes.size());
    std::vector<std::vector<char>> holds;
    for (const auto& [a, b] : pairs) {
        if (std::min(a, b) < 0 || std::max(a, b) >= n_axes) throw Error("no such axis");
        holds.emplace_back(axes[a].count() * axes[b].count(), 0);
    }
    std::vector<index> cells(n_axes * std::min(kPanel, x.rows));
    for (index first = 0; first < x.rows; first += kPanel) {
        const index rows = std::min(kPanel, x.rows - first);
        const Table part{x.data + first * x.row_stride, x.is_float32, rows, x.columns, x.row_stride, x.column_stride};
        parallel_for(n_axes, n_threads, [&](index a) { find_cells(axes[a], part, &cells[a * rows]); });
        parallel_for(index(pairs.size()), n_threads, [&](index p) {
            const auto [a, b] = pairs[p];
            const index *of_a = &cells[a * rows], *of_b = &cells[b * rows], count = axes[b].count();
            for (index r = 0; r < rows; ++r)
                if (!weight || weight[first + r] > 0.0) holds[p][of_a[r] * count + of_b[r]] = 1;
        });
    }
    return holds;
}

}  // namespace fasthdmr
