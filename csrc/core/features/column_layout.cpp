#include "features/column_layout.hpp"

#include <algorithm>

namespace fasthdmr {

namespace {

// The cost model assumes that tables are evaluated at this number of rows. It does not depend on the actual number, so
// that the choice of tables, and with it the rounding of a row's result, is the same in all calls.
constexpr double kRows = 20000.0;

// Times in nanoseconds, measured by `python -m bench tables` with AVX-512. All instruction sets use them, so that they
// choose the same tables and give the same bits.
constexpr double kShallowTree = 0.17, kDeepTree = 3.0;  // traversal, per tree and row
constexpr double kPosition = 0.4;                       // from rank to position, per axis and row
constexpr double kBuildCell = 1.2, kBuildBox = 25.0;

// Of a lookup, by the size of the table.
double cell_time(std::uint64_t bytes) { return bytes < (32 << 10) ? 0.5 : bytes < (1 << 20) ? 0.9 : 2.5; }

double traversal_time(const Candidate& candidate) {
    return kShallowTree * double(candidate.shallow_trees) + kDeepTree * double(candidate.deep_trees);
}

// The time that tables save, less the time to build them.
double gain(const Tables& tables, const Candidate& candidate) {
    const std::uint64_t mean_bytes = tables.bytes() / std::uint64_t(std::max<index>(tables.count(), 1));
    const double look_up = kPosition * double(tables.axes()) + cell_time(mean_bytes) * double(tables.count());
    return (traversal_time(candidate) - look_up) * kRows - kBuildCell * double(tables.cells()) -
           kBuildBox * double(candidate.boxes.size());
}

}  // namespace

int needed_code_sets(const std::vector<ColumnSum>& columns) {
    int most = 0;
    for (const ColumnSum& c : columns) most = std::max(most, !c.paths.empty() ? 2 : !c.trees.empty() ? 1 : 0);
    return most;
}

std::uint64_t bytes_of_tables(const std::vector<ColumnSum>& columns) {
    std::uint64_t sum = 0;
    for (const ColumnSum& column : columns) sum += column.tables.bytes();
    return sum;
}

CandidateTables lay_out_tables(const Thresholds& thresholds, std::vector<Candidate> candidates, int n_threads) {
    const index count = index(candidates.size());
    CandidateTables result{std::move(candidates), std::vector<Tables>(count), std::vector<double>(count, 0.0)};
    parallel_for(count, n_threads, [&](index k) {
        const Candidate& candidate = result.candidates[k];
        if (traversal_time(candidate) <= kPosition + cell_time(0)) return;
        result.tables[k] = Tables(thresholds, candidate.boxes);
        result.gains[k] = gain(result.tables[k], candidate);
    });
    return result;
}

void choose_tables(const std::vector<CandidateTables*>& all, std::uint64_t most_bytes, int n_threads) {
    struct Choice {
        Tables& tables;
        const Candidate& candidate;
        double gain;
        bool is_chosen = false;
    };
    std::vector<Choice> choices;
    for (CandidateTables* some : all)
        for (std::size_t k = 0; k < some->tables.size(); ++k)
            choices.push_back({some->tables[k], some->candidates[k], some->gains[k]});
    std::vector<Choice*> order;
    for (Choice& choice : choices)
        if (choice.tables.count() > 0 && choice.gain > 0.0) order.push_back(&choice);
    std::stable_sort(order.begin(), order.end(), [](const Choice* a, const Choice* b) {
        return a->gain * double(b->tables.bytes()) > b->gain * double(a->tables.bytes());
    });
    for (Choice* choice : order) {
        if (choice->tables.bytes() > most_bytes) continue;
        most_bytes -= choice->tables.bytes();
        choice->is_chosen = true;
    }
    parallel_for(index(choices.size()), n_threads, [&](index k) {
        if (choices[k].is_chosen) choices[k].tables.fill(choices[k].candidate.boxes);
        else choices[k].tables = Tables();
    });
}

}  // namespace fasthdmr
