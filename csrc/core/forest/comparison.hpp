// How a forest compares inputs with thresholds. Inputs are converted to float32 numbers here and nowhere else; nodes
// compare these numbers.
#pragma once

#include <memory>
#include <vector>

#include "support/arrays.hpp"

namespace fasthdmr {

// The nodes of a forest, as a loader passes them.
struct NodeArrays {
    index n_nodes;
    const std::int64_t *left, *right, *feature;
    const double* threshold;
    const std::int64_t* set = nullptr;  // by node, the number of its set of values, or -1: a threshold. Null: all -1
};

// Values in [low, high] are replaced by `by`: a number in that interval, or NaN (missing). If low > high, none are.
struct Replacement {
    double low = 1.0, high = 0.0, by = 0.0;

    bool operator==(const Replacement& other) const;
};

// A set of values of a variable, such as the categories that go left at a split. It is the union of the intervals
// (cuts[0], cuts[1]], (cuts[2], cuts[3]], ...
struct ValueSet {
    index variable;
    std::vector<double> cuts;  // an even number of them, increasing

    bool operator==(const ValueSet& other) const { return variable == other.variable && cuts == other.cuts; }
    bool operator<(const ValueSet& other) const {
        return variable != other.variable ? variable < other.variable : cuts < other.cuts;
    }
};
// The cuts of a union of closed intervals, given as pairs of numbers.
std::vector<double> cuts_of(const double* intervals, index count);

// The largest float32 that is not above a threshold. A float32 x is above one of them if and only if it is above the
// other.
float largest_float_not_above(double threshold);
// The largest float64 whose rounding to float32 is not above the threshold.
double largest_double_not_above(float threshold);

// A row goes left if x <= threshold, compared in float32 (scikit-learn's trees cast x) or in float64. The code of a
// value is the float32 number that nodes compare. For a comparison in float32 it is x itself, rounded. For a comparison
// in float64, the code of a threshold is its position among all thresholds of its variable, and the code of x is the
// number of thresholds below x; both are exact up to 2^24 thresholds. So traversals are the same in both cases.
//
// A comparison provides columns: one for each variable, and one for each set of values, which is 0 for values in the
// set and 1 for others. A split by a set is then a comparison of its column with the threshold 0.
class Comparison {
public:
    // A comparison in float32.
    Comparison(index n_features, std::vector<Replacement> replaced = {});
    // A comparison in float64. The thresholds of each variable, the cuts of its sets included, increase strictly. The
    // sets do so as well.
    Comparison(std::vector<std::vector<double>> thresholds, std::vector<Replacement> replaced,
               std::vector<ValueSet> sets = {});
    // The comparison in float64 for the nodes of a forest; cuts[k] are those of the set that nodes refer to as k.
    static Comparison of_nodes(const NodeArrays& nodes, std::vector<Replacement> replaced,
                               const std::vector<std::vector<double>>& cuts = {});
    // This comparison without the columns of sets.
    Comparison of_variables() const;

    index n_features() const { return n_features_; }
    index columns() const { return n_features_ + index(sets_.size()); }
    // The variable that a column is a function of.
    std::int32_t variable(index column) const {
        return std::int32_t(column < n_features_ ? column : sets_[column - n_features_].variable);
    }
    const std::vector<ValueSet>& sets() const { return sets_; }
    const ValueSet& set(index column) const { return sets_[column - n_features_]; }
    // The column of a set, which must be one of sets().
    index column(const ValueSet& set) const;
    bool is_float32() const { return thresholds_.empty(); }
    const std::vector<std::vector<double>>& thresholds() const { return thresholds_; }
    const std::vector<Replacement>& replaced() const { return replaced_; }  // by variable; empty if there are none
    Replacement replacement(index variable) const { return replaced_.empty() ? Replacement{} : replaced_[variable]; }

    // From thresholds to their codes, and back.
    float code_of_threshold(index variable, double threshold) const;
    double threshold(index variable, float code) const;
    // The code of a value, and the codes of a variable at some rows. Missing values are NaN.
    float code(index variable, double x) const;
    void load(const Table& x, const Rows& rows, index variable, float* out) const;
    // Computes the column of a set from the codes of its variable.
    void load_set(index column, const float* codes, index rows, float* out) const;
    // By code of the variable of the set: 1 if the value is outside the set, else 0. The last entry, for missing values, is 2.
    const std::vector<std::uint8_t>& outside(index column) const { return outside_[column - n_features_]; }

    bool operator==(const Comparison& other) const;

private:
    double replace(index variable, double x) const;
    void load_coded(index variable, const double* x, index rows, float* out) const;
    void check() const;
    void mark_sets();

    index n_features_;
    std::vector<std::vector<double>> thresholds_;
    std::vector<Replacement> replaced_;
    std::vector<ValueSet> sets_;
    std::vector<std::vector<std::uint8_t>> outside_;  // by set
};

// Sorts thresholds and removes duplicates.
void sort_thresholds(std::vector<double>& thresholds);

inline bool same(const std::shared_ptr<const Comparison>& a, const std::shared_ptr<const Comparison>& b) {
    return a == b || *a == *b;
}

}  // namespace fasthdmr
