// The comparison rule of a forest. Inputs are converted to float32 codes here and nowhere else; nodes compare these
// codes with their thresholds.
#pragma once

#include <memory>
#include <vector>

#include "support/arrays.hpp"

namespace fasthdmr {

// The cuts of many sets of values, in one array. A set is the union of the intervals (cuts[0], cuts[1]], (cuts[2],
// cuts[3]], ...
class SetCuts {
public:
    // Appends the set that is the union of `count` closed intervals, given as pairs of numbers. If `rounds`, the union
    // of the numbers whose rounding to float32 lies in an interval; the ends are then rounded, too.
    void append_union(const double* intervals, index count, bool rounds = false);
    // Appends a set by its cuts.
    void append(const std::vector<double>& cuts);

    index size() const { return index(offsets_.size()) - 1; }
    const double* begin(index s) const { return cuts_.data() + offsets_[s]; }
    const double* end(index s) const { return cuts_.data() + offsets_[s + 1]; }

private:
    std::vector<double> cuts_;
    std::vector<index> offsets_{0};
};

// The nodes of a forest as arrays, from a loader.
struct NodeArrays {
    index n_nodes;
    const std::int64_t *left, *right, *feature;
    const double* threshold;
    const std::int64_t* set = nullptr;  // by node: the number of its value set, or -1 for a threshold. Null: all -1
};

// Values in [low, high] are replaced by `by`: a number in that interval, or NaN (missing). If low > high, none are.
struct Replacement {
    double low = 1.0, high = 0.0, by = 0.0;

    bool operator==(const Replacement& other) const;
};

// A set of values of a feature, such as the categories that go left at a split.
struct ValueSet {
    index feature;
    std::vector<double> cuts;  // an even number of them, ascending

    bool operator==(const ValueSet& other) const { return feature == other.feature && cuts == other.cuts; }
    bool operator<(const ValueSet& other) const {
        return feature != other.feature ? feature < other.feature : cuts < other.cuts;
    }
};

// The largest float32 that is not above a threshold. A float32 x is above the threshold if and only if it is above this
// number.
float largest_float_not_above(double threshold);
// The largest float64 whose rounding to float32 is not above the threshold.
double largest_double_not_above(float threshold);
// The smallest float64 whose rounding to float32 is not below the threshold.
double smallest_double_not_below(float threshold);

// A row goes left if x <= threshold, compared in float32 (scikit-learn's trees cast x) or in float64. Nodes compare
// codes, which are float32 numbers. For a comparison in float32 the code of x is x, rounded to float32. For a
// comparison in float64, the code of a threshold is its position among all thresholds of its feature, and the code of
// x is the number of thresholds below x; both are exact up to 2^24 thresholds. So the same code traverses trees in both
// cases.
//
// A comparison has a column for each feature, and one for each value set: 0 for values in the set and 1 for others. A
// split by a set is a comparison of this column with the threshold 0.
//
// Features are consecutive columns of the input, by default all of them. Each is a function of one variable, by default
// a variable of its own; one-hot columns are several features of one variable.
class Comparison {
public:
    // A comparison in float32.
    Comparison(index n_features, std::vector<Replacement> replaced = {});
    // A comparison in float64. The thresholds of each feature must include the cuts of its sets, and ascend strictly.
    // The sets must ascend strictly, too.
    Comparison(std::vector<std::vector<double>> thresholds, std::vector<Replacement> replaced,
               std::vector<ValueSet> sets = {});
    // The comparison in float64 for the nodes of a forest, with the cuts of their sets. `numbers`, if given,
    // receives for each node the number of its set in this comparison, or -1.
    static Comparison of_nodes(const NodeArrays& nodes, std::vector<Replacement> replaced, const SetCuts& cuts = {},
                               std::int64_t* numbers = nullptr);
    // This comparison without the columns of sets.
    Comparison without_sets() const;
    // This comparison with feature j in column first + j of the input, as a function of variables[j]. No variables: each
    // feature is one.
    Comparison of_variables(std::vector<std::int32_t> variables, index first) const;

    index n_features() const { return n_features_; }
    index columns() const { return n_features_ + index(sets_.size()); }
    // The number of columns of the input.
    index input_columns() const { return first_ + n_features_; }
    index first() const { return first_; }
    // By feature; empty if each is a variable of its own.
    const std::vector<std::int32_t>& variables() const { return variables_; }
    // The feature of a column: its own, or the one of its value set.
    std::int32_t feature(index column) const {
        return std::int32_t(column < n_features_ ? column : sets_[column - n_features_].feature);
    }
    // The variable of a column.
    std::int32_t variable(index column) const {
        return variables_.empty() ? feature(column) : variables_[feature(column)];
    }
    // Whether every column is another variable.
    bool has_a_variable_by_column() const { return variables_.empty() && sets_.empty(); }
    // Whether features are the columns of the input and variables of their own.
    bool is_of_input() const { return variables_.empty() && first_ == 0; }
    const std::vector<ValueSet>& sets() const { return sets_; }
    const ValueSet& set(index column) const { return sets_[column - n_features_]; }
    // The column of a set, which must be one of sets().
    index column(const ValueSet& set) const;
    bool is_float32() const { return thresholds_.empty(); }
    const std::vector<std::vector<double>>& thresholds() const { return thresholds_; }
    const std::vector<Replacement>& replaced() const { return replaced_; }  // by feature; empty if there are none
    Replacement replacement(index feature) const { return replaced_.empty() ? Replacement{} : replaced_[feature]; }

    // The code of a threshold, and the threshold with a given code.
    float code_of_threshold(index feature, double threshold) const;
    double threshold(index feature, float code) const;
    // The code of a value, and the codes of a feature at some rows. The code of a missing value is NaN.
    float code(index feature, double x) const;
    void load(const Table& x, const Rows& rows, index feature, float* out) const;
    // Computes the column of a set from the codes of its feature.
    void load_set(index column, const float* codes, index rows, float* out) const;
    // For each code of the feature of the set: 1 if values with this code are outside the set, else 0. A last entry,
    // 2, is for missing values.
    const std::vector<std::uint8_t>& outside(index column) const { return outside_[column - n_features_]; }

    bool operator==(const Comparison& other) const;

private:
    double replace(index feature, double x) const;
    void load_coded(index feature, const double* x, index rows, float* out) const;
    void check() const;
    void mark_sets();

    index n_features_;
    index first_ = 0;
    std::vector<std::int32_t> variables_;
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
