#include "features/column_layout.hpp"

#include <algorithm>

namespace fasthdmr {

namespace {

// Number of rows over which the cost of building tables is spread. Constant, so that a row has the same bits in all
// calls.
constexpr double kRows = 20000.0;

// The cost model in nanoseconds, measured by `python -m bench tables` with AVX-512. All instruction sets use it, so
// that they choose the same tables and give the same bits.
constexpr double kWalk = 0.17, kDeepWalk = 3.0;  // per tree and row
constexpr double kPlace = 0.4;                   // per axis and row
constexpr double kBuildCell = 1.2, kBuildBox = 25.0;

double cell_time(std::uint64_t bytes) { return bytes < (32 << 10) ? 0.5 : bytes < (1 << 20) ? 0.9 : 2.5; }

double walk_time(const Candidate& candidate) {
    return kWalk * double(candidate.walks) + kDeepWalk * double(candidate.deep_walks);
}

// Time saved by tables.
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

TableOffers offer_tables(const Thresholds& thresholds, std::vector<Candidate> candidates, int n_threads) {
    const index count = index(candidates.size());
    TableOffers offers{std::move(candidates), std::vector<Tables>(count), std::vector<double>(count, 0.0)};
    parallel_for(count, n_threads, [&](index k) {
        const Candidate& candidate = offers.candidates[k];
        if (walk_time(candidate) <= kPlace + cell_time(0)) return;
        offers.tables[k] = Tables(thresholds, candidate.boxes);
        offers.gains[k] = gain(offers.tables[k], candidate);
    });
    return offers;
}

void choose_tables(const std::vector<TableOffers*>& offers, std::uint64_t most_bytes, int n_threads) {
    struct Offer {
        Tables& tables;
        const Candidate& candidate;
        double gain;
        bool is_chosen = false;
    };
    std::vector<Offer> all;
    for (TableOffers* some : offers)
        for (std::size_t k = 0; k < some->tables.size(); ++k)
            all.push_back({some->tables[k], some->candidates[k], some->gains[k]});
    std::vector<Offer*> order;
    for (Offer& offer : all)
        if (offer.tables.count() > 0 && offer.gain > 0.0) order.push_back(&offer);
    std::stable_sort(order.begin(), order.end(), [](const Offer* a, const Offer* b) {
        return a->gain * double(b->tables.bytes()) > b->gain * double(a->tables.bytes());
    });
    for (Offer* offer : order) {
        if (offer->tables.bytes() > most_bytes) continue;
        most_bytes -= offer->tables.bytes();
        offer->is_chosen = true;
    }
    parallel_for(index(all.size()), n_threads, [&](index k) {
        if (all[k].is_chosen) all[k].tables.fill(all[k].candidate.boxes);
        else all[k].tables = Tables();
    });
}

}  // namespace fasthdmr
