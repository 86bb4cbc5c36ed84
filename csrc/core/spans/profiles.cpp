#include "spans/profiles.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#include "support/parallel.hpp"

namespace fasthdmr {

namespace {

struct Weighted {
    std::uint64_t key;
    double weight;
};

// Keys are in the order of the numbers, and equal if the numbers are.
constexpr std::uint64_t kSign = std::uint64_t{1} << 63;

std::uint64_t to_key(double value) {
    const double number = value + 0.0;  // -0.0 becomes 0.0
    std::uint64_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    return bits & kSign ? ~bits : bits | kSign;
}

double to_number(std::uint64_t key) {
    const std::uint64_t bits = key & kSign ? key ^ kSign : ~key;
    double number;
    std::memcpy(&number, &bits, sizeof number);
    return number;
}

// Sorts by key, without comparisons, in linear time; equal keys keep their order. Digits that all keys share cost no
// pass. `scratch` is used for memory, which one column hands to the next.
void radix_sort(std::vector<Weighted>& records, std::vector<Weighted>& scratch) {
    constexpr int bits = 8, digits = 64 / bits;
    constexpr std::uint64_t mask = (1 << bits) - 1;
    std::array<std::array<std::size_t, mask + 1>, digits> places{};
    for (const Weighted& record : records)
        for (int d = 0; d < digits; ++d) ++places[d][record.key >> (bits * d) & mask];
    scratch.resize(records.size());
    for (int d = 0; d < digits; ++d) {
        if (records.empty() || places[d][records[0].key >> (bits * d) & mask] == records.size()) continue;
        std::size_t place = 0;
        for (std::size_t& count : places[d]) place += std::exchange(count, place);
        for (const Weighted& record : records) scratch[places[d][record.key >> (bits * d) & mask]++] = record;
        records.swap(scratch);
    }
}

class Profiler {
public:
    Profile operator()(const Table& x, const double* weight, index step, index column) {
        Profile result;
        records_.clear();
        for (index r = 0; r < x.rows; r += step) {
            const double value = x.at(r, column), mass = weight ? weight[r] : 1.0;
            if (!(mass > 0.0)) continue;
            result.has_missing |= std::isnan(value);
            if (std::isfinite(value)) records_.push_back({to_key(value), mass});
        }
        radix_sort(records_, scratch_);
        const index count = count_distinct();
        result.values.resize(count);
        result.weights.resize(count);
        index last = -1;
        for (std::size_t k = 0; k < records_.size(); ++k) {
            if (k == 0 || records_[k].key != records_[k - 1].key) result.values[++last] = to_number(records_[k].key);
            result.weights[last] += records_[k].weight;
        }
        return result;
    }

private:
    index count_distinct() const {
        index count = records_.empty() ? 0 : 1;
        for (std::size_t k = 1; k < records_.size(); ++k) count += records_[k].key != records_[k - 1].key;
        return count;
    }

    std::vector<Weighted> records_, scratch_;
};

}  // namespace

std::vector<Profile> profiles(const Table& x, const double* weight, index step, const std::vector<index>& columns,
                              int n_threads) {
    for (const index j : columns)
        if (j < 0 || j >= x.columns) throw Error("no such column: " + std::to_string(j));
    if (step < 1) throw Error("step must be positive");
    const index count = index(columns.size()), parts = std::min<index>(count, n_threads);
    std::vector<Profile> result(count);
    parallel_for(parts, n_threads, [&](index part) {
        Profiler profiler;
        for (index k = count * part / parts; k < count * (part + 1) / parts; ++k) {
            poll();
            result[k] = profiler(x, weight, step, columns[k]);
        }
    });
    return result;
}

}  // namespace fasthdmr
