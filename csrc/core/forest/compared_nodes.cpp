#include "forest/compared_nodes.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "support/interruption.hpp"
#include "support/sorting.hpp"

namespace fasthdmr {

namespace {

std::uint64_t mixed(std::uint64_t bits, std::uint64_t more) {
    constexpr std::uint64_t golden = 0x9E3779B97F4A7C15;
    bits = (bits ^ more * golden) * golden;
    return (bits ^ bits >> 32) * golden;
}

// Numbers of features, each with an identifier. Libraries that bin the columns repeat a few hundred thresholds in many
// nodes, and sorting all of them would take longer.
class DistinctNumbers {
public:
    explicit DistinctNumbers(std::size_t n_features) : of_feature_(n_features), slots_(std::size_t(1) << bits_) {}

    // The identifiers count up from 0 in the order of appearance.
    std::int32_t identifier(std::int64_t feature, double number) {
        number += 0.0;  // turns -0 into 0, which is equal to it
        Slot& slot = slot_of(std::int32_t(feature), number);
        if (slot.identifier >= 0) return slot.identifier;
        const std::int32_t identifier = size_++;
        slot = {number, std::int32_t(feature), identifier};
        of_feature_[feature].emplace_back(number, identifier);
        if (std::size_t(size_) * 2 > slots_.size()) grow();
        return identifier;
    }

    // The sorted numbers of each feature. The codes become the position of each number, by identifier.
    std::vector<std::vector<double>> sorted(std::vector<std::int32_t>& codes) {
        std::vector<std::vector<double>> result(of_feature_.size());
        codes.resize(size_);
        for (std::size_t feature = 0; feature < of_feature_.size(); ++feature) {
            sort_in_steps(of_feature_[feature]);
            result[feature].reserve(of_feature_[feature].size());
            for (const auto& [number, identifier] : of_feature_[feature]) {
                codes[identifier] = std::int32_t(result[feature].size());
                result[feature].push_back(number);
            }
        }
        return result;
    }

private:
    struct Slot {
        double number = 0.0;
        std::int32_t feature = 0, identifier = -1;
    };

    // The slot that stores the number, or the empty one where it belongs.
    Slot& slot_of(std::int32_t feature, double number) {
        std::uint64_t bits;
        std::memcpy(&bits, &number, sizeof bits);
        for (std::size_t k = mixed(bits, std::uint64_t(feature)) >> (64 - bits_);; k = (k + 1) & (slots_.size() - 1))
            if (Slot& slot = slots_[k]; slot.identifier < 0 || (slot.number == number && slot.feature == feature))
                return slot;
    }

    void grow() {
        std::vector<Slot> old(std::size_t(1) << ++bits_);
        old.swap(slots_);
        for (const Slot& slot : old)
            if (slot.identifier >= 0) slot_of(slot.feature, slot.number) = slot;
    }

    int bits_ = 12;
    std::int32_t size_ = 0;
    std::vector<std::vector<std::pair<double, std::int32_t>>> of_feature_;
    std::vector<Slot> slots_;  // their number is a power of 2
};

// Sets of values of features, each with an identifier.
class DistinctSets {
public:
    DistinctSets(const SetCuts& cuts, DistinctNumbers& numbers, index n_splits) : cuts_(cuts), numbers_(numbers) {
        while (index(1) << bits_ < 2 * n_splits) ++bits_;
        slots_.assign(std::size_t(1) << bits_, -1);
    }

    // The identifiers count up from 0 in the order of appearance.
    std::int32_t identifier(std::int64_t feature, index set) {
        const ValueSet values{feature, cuts_.begin(set), cuts_.end(set)};
        for (std::size_t k = hash_of(values) >> (64 - bits_);; k = (k + 1) & (slots_.size() - 1)) {
            if (slots_[k] >= 0 && sets_[slots_[k]] == values) return slots_[k];
            if (slots_[k] >= 0) continue;
            slots_[k] = std::int32_t(sets_.size());
            sets_.push_back(values);
            for (const double cut : values) of_cuts_.push_back(numbers_.identifier(feature, cut));
            begin_.push_back(of_cuts_.size());
            return slots_[k];
        }
    }

    // The sets in ascending order, and the codes of all their cuts, from those by identifier. positions[identifier]
    // becomes the position of each set.
    std::pair<ValueSets, std::vector<std::int32_t>> sorted(const std::vector<std::int32_t>& codes,
                                                           const std::vector<std::vector<double>>& thresholds,
                                                           std::vector<std::int64_t>& positions) const {
        std::vector<Place> places;
        for (std::size_t s = 0; s < sets_.size(); ++s)
            places.push_back({sets_[s].feature, first_codes(s, codes, thresholds[sets_[s].feature].size()), s});
        std::sort(places.begin(), places.end(), [&](const Place& a, const Place& b) {
            if (a.feature != b.feature) return a.feature < b.feature;
            return a.first_codes != b.first_codes ? a.first_codes < b.first_codes
                                                  : sets_[a.identifier] < sets_[b.identifier];
        });
        std::pair<ValueSets, std::vector<std::int32_t>> result;
        positions.resize(places.size());
        for (const Place& place : places) {
            const std::size_t s = place.identifier;
            positions[s] = result.first.size();
            result.first.append(sets_[s]);
            for (std::size_t k = begin_[s]; k < begin_[s + 1]; ++k) result.second.push_back(codes[of_cuts_[k]]);
        }
        return result;
    }

private:
    struct Place {
        index feature;
        std::uint64_t first_codes;
        std::size_t identifier;
    };

    static std::uint64_t hash_of(const ValueSet& set) {
        std::uint64_t hash = mixed(std::uint64_t(set.feature), 0);
        for (const double cut : set) {
            const double number = cut + 0.0;  // turns -0 into 0, which is equal to it
            std::uint64_t bits;
            std::memcpy(&bits, &number, sizeof bits);
            hash = mixed(hash, bits);
        }
        return hash;
    }

    // As many codes of cuts as fit into one number, which orders the sets of a feature as these cuts do.
    std::uint64_t first_codes(std::size_t s, const std::vector<std::int32_t>& codes, std::size_t n_codes) const {
        int bits = 1;
        while (n_codes >> bits) ++bits;
        std::uint64_t result = 0;
        for (int used = bits, k = 0; used <= 64; used += bits, ++k) {
            const std::size_t cut = begin_[s] + std::size_t(k);
            result = result << bits | std::uint64_t(cut < begin_[s + 1] ? codes[of_cuts_[cut]] + 1 : 0);
        }
        return result;
    }

    const SetCuts& cuts_;
    DistinctNumbers& numbers_;
    int bits_ = 1;
    std::vector<std::int32_t> slots_;
    std::vector<ValueSet> sets_;         // by identifier
    std::vector<std::int32_t> of_cuts_;  // identifiers of the cuts, set by set
    std::vector<std::size_t> begin_{0};  // where those of a set begin
};

}  // namespace

ComparedNodes compare_nodes(const NodeArrays& a, std::vector<Replacement> replaced, const SetCuts& cuts) {
    DistinctNumbers numbers(replaced.size());
    const auto is_by_set = [&](index m) { return a.set && a.set[m] >= 0; };
    index n_splits = 0;
    for (index m = 0; m < a.n_nodes; ++m) n_splits += is_by_set(m);
    DistinctSets sets(cuts, numbers, n_splits);
    std::vector<std::int32_t> identifier(a.n_nodes, -1);
    NodePolls polls;
    for (index m = 0; m < a.n_nodes; ++m) {
        polls.add(1);
        const bool splits = a.left[m] != -1 || a.right[m] != -1;
        if (!splits || a.feature[m] < 0 || a.feature[m] >= index(replaced.size())) continue;
        if (is_by_set(m) && a.set[m] >= cuts.size()) throw Error("no such set of values: " + std::to_string(a.set[m]));
        if (is_by_set(m)) identifier[m] = sets.identifier(a.feature[m], a.set[m]);
        else if (!std::isnan(a.threshold[m])) identifier[m] = numbers.identifier(a.feature[m], a.threshold[m]);
    }
    std::vector<std::int32_t> codes;
    std::vector<std::int64_t> positions;
    std::vector<std::vector<double>> thresholds = numbers.sorted(codes);
    auto [values, codes_of_cuts] = sets.sorted(codes, thresholds, positions);
    ComparedNodes result;
    result.comparison = std::make_shared<const Comparison>(std::move(thresholds), std::move(replaced),
                                                           std::move(values), codes_of_cuts);
    result.set.assign(a.n_nodes, -1);
    result.code.resize(a.n_nodes);
    for (index m = 0; m < a.n_nodes; ++m) {
        if (identifier[m] < 0) continue;
        if (is_by_set(m)) result.set[m] = positions[identifier[m]];
        else result.code[m] = float(codes[identifier[m]]);
    }
    return result;
}

}  // namespace fasthdmr
