#include "forest/value_sets.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "forest/rounding.hpp"
#include "support/neighbour.hpp"
#include "support/sorting.hpp"

namespace fasthdmr {

namespace {

// Sorts intervals (low, high], given as pairs of numbers, and merges those that overlap or touch. Returns how many
// numbers are left.
index merged(double* ends, index count) {
    std::vector<std::pair<double, double>> pairs;
    for (index k = 0; k < count; ++k) pairs.emplace_back(ends[2 * k], ends[2 * k + 1]);
    std::sort(pairs.begin(), pairs.end());
    index size = 0;
    for (const auto& [low, high] : pairs) {
        if (size > 0 && low <= ends[size - 1]) {
            ends[size - 1] = std::max(ends[size - 1], high);
            continue;
        }
        ends[size++] = low;
        ends[size++] = high;
    }
    return size;
}

}  // namespace

void SetCuts::append(const double* first, const double* last) {
    cuts_.insert(cuts_.end(), first, last);
    offsets_.push_back(index(cuts_.size()));
}

void SetCuts::append_union(const double* intervals, index count, bool rounds) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const auto first = index(cuts_.size());
    bool ascends = true;
    for (index k = 0; k < count; ++k) {
        const double low = intervals[2 * k], high = intervals[2 * k + 1];
        if (!(low <= high)) throw Error("the ends of the intervals of a set must be ascending numbers");
        const double least = rounds ? smallest_double_not_below(float(low)) : low;
        const double below = least == -infinity ? least : neighbour(least, -1);
        ascends &= k == 0 || cuts_.back() < below;
        cuts_.push_back(below);
        cuts_.push_back(rounds ? largest_double_not_above(float(high)) : high);
    }
    if (!ascends) cuts_.resize(first + merged(cuts_.data() + first, count));
    offsets_.push_back(index(cuts_.size()));
}

ValueSets::ValueSets(std::vector<ValueSet> sets) {
    sort_in_steps(sets);
    sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
    for (const ValueSet& set : sets) append(set);
}

void ValueSets::append(const ValueSet& set) {
    cuts_.append(set.first, set.last);
    features_.push_back(set.feature);
}

index ValueSets::find(const ValueSet& set) const {
    index low = 0;
    for (index n = size(); n > 0;) {
        const index half = n / 2, middle = low + half;
        const bool is_before = (*this)[middle] < set;
        low = is_before ? middle + 1 : low;
        n = is_before ? n - half - 1 : half;
    }
    return low < size() && (*this)[low] == set ? low : -1;
}

}  // namespace fasthdmr
