// The comparison rule of a forest. Inputs are converted to float32 codes here and nowhere else; nodes compare these
// codes with their thresholds.
#pragma once

#include <memory>
#include <vector>

#include "forest/value_sets.hpp"
#include "support/arrays.hpp"

namespace fasthdmr {

// Values in [low, high] are replaced by `by`: a number in that interval, or NaN (missing). If low > high, none are.
struct Replacement {
    double low = 1.0, high = 0.0, by = 0.0;

    bool operator==(const Replacement& other) const;
};

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
    Comparison(std::vector<std::vector<double>> thresholds, std::vector<Replacement> replaced, ValueSets sets = {});
    // The same, with the codes of the cuts of all sets, one set after the other.
    Comparison(std::vector<std::vector<double>> thresholds, std::vector<Replacement> replaced, ValueSets sets,
               const std::vector<std::int32_t>& codes_of_cuts);
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
    bool has_a_variable_by_column() const { return variables_.empty() && sets_.size() == 0; }
    // Whether features are the columns of the input and variables of their own.
    bool is_of_input() const { return variables_.empty() && first_ == 0; }
    const ValueSets& sets() const { return sets_; }
    ValueSet set(index column) const { return sets_[column - n_features_]; }
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
    const std::uint8_t* outside(index column) const { return outside_.data() + outside_begin_[column - n_features_]; }
    // The number of these entries.
    index codes_and_missing(index column) const { return index(thresholds_[feature(column)].size()) + 2; }

    bool operator==(const Comparison& other) const;

private:
    double replace(index feature, double x) const;
    void load_coded(index feature, const double* x, index rows, float* out) const;
    void check() const;
    std::vector<std::int32_t> codes_of_cuts() const;
    void mark_sets(const std::vector<std::int32_t>& codes_of_cuts);

    index n_features_;
    index first_ = 0;
    std::vector<std::int32_t> variables_;
    std::vector<std::vector<double>> thresholds_;
    std::vector<Replacement> replaced_;
    ValueSets sets_;
    std::vector<std::uint8_t> outside_;  // set by set
    std::vector<index> outside_begin_;
};

// Sorts thresholds and removes duplicates.
void sort_thresholds(std::vector<double>& thresholds);

inline bool same(const std::shared_ptr<const Comparison>& a, const std::shared_ptr<const Comparison>& b) {
    return a == b || *a == *b;
}

}  // namespace fasthdmr
