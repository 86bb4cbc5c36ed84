#include "column_sums.hpp"

#include <algorithm>

#include "parallel.hpp"

namespace fasthdmr {

namespace {

// Tables have to pay for so many rows; the same for all calls, so that a row has the same bits in all.
constexpr double kRows = 20000.0;

// Nanoseconds, as `python -m bench tables` measures them with AVX-512; other sets have the same, so that all choose the
// same tables and give the same bits.
constexpr double kWalk = 0.17, kDeepWalk = 3.0;            // a tree and row
constexpr double kPlace = 0.4;                             // an axis and row
constexpr double kBuildCell = 1.2, kBuildBox = 25.0;

double cell_time(std::uint64_t bytes) { return bytes < (32 << 10) ? 0.5 : bytes < (1 << 20) ? 0.9 : 2.5; }

double walk_time(const Candidate& candidate) {
    return kWalk * double(candidate.walks) + kDeepWalk * double(candidate.deep_walks);
}

// The time that tables save.
double gain(const Tables& tables, const Candidate& candidate) {
    const std::uint64_t mean_bytes = tables.bytes() / std::uint64_t(std::max<index>(tables.count(), 1));
    const double look_up = kPlace * double(tables.axes()) + cell_time(mean_bytes) * double(tables.count());
    return (walk_time(candidate) - look_up) * kRows - kBuildCell * double(tables.cells()) -
           kBuildBox * double(candidate.boxes.size());
}

}  // namespace

bool need_codes(const std::vector<ColumnSum>& columns) {
    return std::any_of(columns.begin(), columns.end(), [](const ColumnSum& c) { return !c.walked.empty(); });
}

std::uint64_t bytes_of_tables(const std::vector<ColumnSum>& columns) {
    std::uint64_t sum = 0;
    for (const ColumnSum& column : columns) sum += column.tables.bytes();
    return sum;
}

std::vector<Tables> worthwhile_tables(const Thresholds& thresholds, const std::vector<Candidate>& candidates,
                                      std::uint64_t most_bytes, int n_threads) {
    const index count = index(candidates.size());
    std::vector<Tables> tables(count);
    std::vector<double> gains(count, 0.0);
    parallel_for(count, n_threads, [&](index k) {
        if (walk_time(candidates[k]) <= kPlace + cell_time(0)) return;
        tables[k] = Tables(thresholds, candidates[k].boxes);
        gains[k] = gain(tables[k], candidates[k]);
    });
    std::vector<index> order;
    for (index k = 0; k < count; ++k)
        if (tables[k].count() > 0 && gains[k] > 0.0) order.push_back(k);
    std::stable_sort(order.begin(), order.end(), [&](index a, index b) {
        return gains[a] * double(tables[b].bytes()) > gains[b] * double(tables[a].bytes());
    });
    std::vector<char> chosen(count, 0);
    for (const index k : order) {
        if (tables[k].bytes() > most_bytes) continue;
        most_bytes -= tables[k].bytes();
        chosen[k] = 1;
    }
    parallel_for(count, n_threads, [&](index k) {
        if (chosen[k])
            tables[k].fill(candidates[k].boxes);
        else
            tables[k] = Tables();
    });
    return tables;
}

}  // namespace fasthdmr
