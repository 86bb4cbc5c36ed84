#include "spans/cells.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "spans/column_tiles.hpp"

namespace fasthdmr {

namespace {

// Of the numbers of cells of a panel of rows, so that they stay in the cache.
constexpr index kCellBytes = index(8) << 20, kMostRows = 16 * kBlockRows;

// A binary search without branches, which would be mispredicted half of the time.
index count_not_above(const double* breaks, index n, double x) {
    const double* low = breaks;
    for (; n > 1; n -= n / 2) low += (low[n / 2 - 1] <= x) * (n / 2);
    return low - breaks + (n > 0 && *low <= x);
}

void check(const CellAxis& axis, const Table& x) {
    if (axis.column < 0 || axis.column >= x.columns) throw Error("no such column: " + std::to_string(axis.column));
    if (!std::is_sorted(axis.breaks.begin(), axis.breaks.end())) throw Error("breaks must ascend");
}

index cell_of(const CellAxis& axis, double value) {
    const bool is_missing = std::isnan(value) || (axis.is_categorical && !(axis.low <= value && value < axis.high));
    return is_missing ? axis.count() - 1 : count_not_above(axis.breaks.data(), index(axis.breaks.size()), value);
}

}  // namespace

void find_cells(const CellAxis& axis, const Table& x, index* cells) {
    check(axis, x);
    for (index r = 0; r < x.rows; ++r) cells[r] = cell_of(axis, x.at(r, axis.column));
}

std::vector<std::vector<char>> occupied_cells(const std::vector<CellAxis>& axes,
                                              const std::vector<std::pair<index, index>>& pairs, const Table& x,
                                              const double* weight, int n_threads) {
    const index n_axes = index(axes.size());
    std::vector<std::vector<char>> holds;
    for (const auto& [a, b] : pairs) {
        if (std::min(a, b) < 0 || std::max(a, b) >= n_axes) throw Error("no such axis");
        holds.emplace_back(axes[a].count() * axes[b].count(), 0);
    }
    std::vector<ColumnUse> uses;
    for (index a = 0; a < n_axes; ++a) {
        check(axes[a], x);
        uses.emplace_back(axes[a].column, a);
    }
    std::sort(uses.begin(), uses.end());
    const index row_bytes = n_axes * index(sizeof(std::int32_t));
    const index panel = std::min(rows_within(kCellBytes, row_bytes, kBlockRows, kMostRows), x.rows);
    std::vector<std::int32_t> cells(n_axes * panel);
    for (index first = 0; first < x.rows; first += panel) {
        const index rows = std::min(panel, x.rows - first);
        for_tiles(x, {first, 1, rows, nullptr}, uses, n_threads,
                  [&](index a, index begin, const double* values, index count) {
                      std::int32_t* own = cells.data() + a * panel + begin;
                      for (index r = 0; r < count; ++r) own[r] = std::int32_t(cell_of(axes[a], values[r]));
                  });
        parallel_for(index(pairs.size()), n_threads, [&](index p) {
            const auto [a, b] = pairs[p];
            const std::int32_t *of_a = &cells[a * panel], *of_b = &cells[b * panel],
                               count = std::int32_t(axes[b].count());
            char* own = holds[p].data();
            for (index r = 0; r < rows; ++r)
                if (!weight || weight[first + r] > 0.0) own[index(of_a[r]) * count + of_b[r]] = 1;
        });
    }
    return holds;
}

}  // namespace fasthdmr
