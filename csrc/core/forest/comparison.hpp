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
};

// Values from `low` to `high` count as `by`: a number among them, or NaN, a missing value. None do if low > high.
struct Replacement {
    double low = 1.0, high = 0.0, by = 0.0;

    bool operator==(const Replacement& other) const;
};

// The largest float32 not above a threshold: a float32 x is above the one if it is above the other.
float largest_float_not_above(double threshold);
// The largest float64 whose float32 is not above the threshold.
double largest_double_not_above(float threshold);

// x goes left if x <= threshold, in float32 (scikit-learn's trees cast x) or in float64. Nodes hold float32 either way:
// for float64 they hold the places of their thresholds among all of the variable's, and values become the number of
// thresholds below them, which is exact up to 2^24 of them. What compares such codes is right for both.
class Comparison {
public:
    // In float32.
    Comparison(index n_features, std::vector<Replacement> replaced = {});
    // In float64, by variable the thresholds, rising, each once.
    Comparison(std::vector<std::vector<double>> thresholds, std::vector<Replacement> replaced);
    static std::vector<std::vector<double>> thresholds_of(const NodeArrays& nodes, index n_features);

    index n_features() const { return n_features_; }
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

    bool operator==(const Comparison& other) const;

private:
    double replace(index variable, double x) const;
    void load_coded(index variable, const double* x, index rows, float* out) const;

    index n_features_;
    std::vector<std::vector<double>> thresholds_;
    std::vector<Replacement> replaced_;
};

inline bool same(const std::shared_ptr<const Comparison>& a, const std::shared_ptr<const Comparison>& b) {
    return a == b || *a == *b;
}

}  // namespace fasthdmr
