// How a forest compares values: the one place that turns them into the float32 numbers that its nodes ask for.
#pragma once

#include <memory>
#include <vector>

#include "support/arrays.hpp"

namespace fasthdmr {

// The nodes of a forest, as a loader hands them over.
struct NodeArrays {
    index n_nodes;
    const std::int64_t *left, *right, *feature;
    const double* threshold;
    const std::int64_t* set = nullptr;  // the number of a set of values, or -1 where there is a threshold; null: all -1
};

// Values from `low` to `high` count as `by`: a number among them, or NaN, a missing value. None do if low > high.
struct Replacement {
    double low = 1.0, high = 0.0, by = 0.0;

    bool operator==(const Replacement& other) const;
};

// Values of a variable that go left, as the categories of a split do: those above the first cut up to the second, above
// the third up to the fourth, and so on.
struct ValueSet {
    index variable;
    std::vector<double> cuts;  // rising, an even number

    bool operator==(const ValueSet& other) const { return variable == other.variable && cuts == other.cuts; }
    bool operator<(const ValueSet& other) const {
        return variable != other.variable ? variable < other.variable : cuts < other.cuts;
    }
};
// The cuts of a union of closed intervals, each as two numbers.
std::vector<double> cuts_of(const double* intervals, index count);

// The largest float32 not above a threshold: a float32 x is above the one if it is above the other.
float largest_float_not_above(double threshold);
// The largest float64 whose float32 is not above the threshold.
double largest_double_not_above(float threshold);

// x goes left if x <= threshold, in float32 (scikit-learn's trees cast x) or in float64. Nodes hold float32 either way:
// for float64 they hold the places of their thresholds among all of the variable's, and values become the number of
// thresholds below them, which is exact up to 2^24 of them. What compares such codes is right for both.
//
// A forest asks for columns: the variables, and for every set of values a column that is 0 in the set and 1 outside. So
// a split by a set is a comparison with 0, and what walks trees knows numbers only.
class Comparison {
public:
    // In float32.
    Comparison(index n_features, std::vector<Replacement> replaced = {});
    // In float64, by variable the thresholds, rising, each once: the cuts of sets are among them. The sets rise too.
    Comparison(std::vector<std::vector<double>> thresholds, std::vector<Replacement> replaced,
               std::vector<ValueSet> sets = {});
    // What the nodes of a forest ask for, in float64. `cuts` are those of the sets that the nodes number.
    static Comparison of_nodes(const NodeArrays& nodes, std::vector<Replacement> replaced,
                               const std::vector<std::vector<double>>& cuts = {});
    // The same for the variables alone.
    Comparison of_variables() const;

    index n_features() const { return n_features_; }
    index columns() const { return n_features_ + index(sets_.size()); }
    // The variable that a column is a function of.
    std::int32_t variable(index column) const {
        return std::int32_t(column < n_features_ ? column : sets_[column - n_features_].variable);
    }
    const std::vector<ValueSet>& sets() const { return sets_; }
    const ValueSet& set(index column) const { return sets_[column - n_features_]; }
    // The column of a set, which must be known.
    index column(const ValueSet& set) const;
    bool is_float32() const { return thresholds_.empty(); }
    const std::vector<std::vector<double>>& thresholds() const { return thresholds_; }
    const std::vector<Replacement>& replaced() const { return replaced_; }  // by variable, or none at all
    Replacement replacement(index variable) const { return replaced_.empty() ? Replacement{} : replaced_[variable]; }

    // What a node with this threshold holds, and the threshold that it stands for.
    float code_of_threshold(index variable, double threshold) const;
    double threshold(index variable, float code) const;
    // What a node's number is compared with. NaN stands for missing values.
    float code(index variable, double x) const;
    void load(const Table& x, const Rows& rows, index variable, float* out) const;
    // The column of a set, from the codes of its variable.
    void load_set(index column, const float* codes, index rows, float* out) const;

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
    std::vector<std::vector<std::uint8_t>> outside_;  // by set and code of its variable
};

// Sorts, and leaves each number once.
void sort_thresholds(std::vector<double>& thresholds);

inline bool same(const std::shared_ptr<const Comparison>& a, const std::shared_ptr<const Comparison>& b) {
    return a == b || *a == *b;
}

}  // namespace fasthdmr
