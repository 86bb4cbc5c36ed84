// Sets of values, such as the categories that go left at a split. A set is the union of half-open intervals between its
// cuts: (cuts[0], cuts[1]], (cuts[2], cuts[3]], ...
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "support/arrays.hpp"

namespace fasthdmr {

// The cuts of many sets, in one array.
class SetCuts {
public:
    // Appends the set that is the union of `count` closed intervals, given as pairs of numbers. If `rounds`, the union
    // of the numbers whose rounding to float32 lies in an interval; the ends are then rounded, too.
    void append_union(const double* intervals, index count, bool rounds = false);
    // Appends a set by its cuts.
    void append(const double* first, const double* last);
    void append(const std::vector<double>& cuts) { append(cuts.data(), cuts.data() + cuts.size()); }

    index size() const { return index(offsets_.size()) - 1; }
    const double* begin(index s) const { return cuts_.data() + offsets_[s]; }
    const double* end(index s) const { return cuts_.data() + offsets_[s + 1]; }
    // The number of cuts of all sets.
    index n_cuts() const { return offsets_.back(); }

    bool operator==(const SetCuts& other) const { return cuts_ == other.cuts_ && offsets_ == other.offsets_; }

private:
    std::vector<double> cuts_;
    std::vector<index> offsets_{0};
};

// A set of values of a feature. It refers to its cuts, which must outlive it.
struct ValueSet {
    index feature;
    const double *first, *last;

    const double* begin() const { return first; }
    const double* end() const { return last; }
    index size() const { return last - first; }

    bool operator==(const ValueSet& other) const {
        return feature == other.feature && std::equal(first, last, other.first, other.last);
    }
    bool operator<(const ValueSet& other) const {
        if (feature != other.feature) return feature < other.feature;
        return std::lexicographical_compare(first, last, other.first, other.last);
    }
};

// Many of them.
class ValueSets {
public:
    ValueSets() = default;
    // Sorts the sets and keeps one of those that are equal.
    explicit ValueSets(std::vector<ValueSet> sets);

    void append(const ValueSet& set);

    index size() const { return index(features_.size()); }
    ValueSet operator[](index s) const { return {features_[s], cuts_.begin(s), cuts_.end(s)}; }
    // The position of a set, or -1. The sets must ascend.
    index find(const ValueSet& set) const;
    index n_cuts() const { return cuts_.n_cuts(); }

    bool operator==(const ValueSets& other) const { return features_ == other.features_ && cuts_ == other.cuts_; }

private:
    SetCuts cuts_;
    std::vector<index> features_;
};

}  // namespace fasthdmr
