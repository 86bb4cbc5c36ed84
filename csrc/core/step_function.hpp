// All that the trees of a forest add to one variable alone: a step function of it.
#pragma once

#include <vector>

#include "forest.hpp"

namespace fasthdmr {

class StepFunction {
public:
    // The differences from the roots' values, down to where the trees first split on another variable than at the root;
    // that variable is the same for all of the trees.
    StepFunction(const Forest& forest, const std::vector<index>& trees, index value_column);
    // Adds the function of x, which may be NaN; at most kBlockRows rows.
    void add(const float* x, index rows, double* out) const;

    std::int32_t variable() const { return variable_; }

private:
    struct Jump {
        float threshold;
        double change;
    };
    void collect(const Forest& forest, index t, index value_column, std::vector<Jump>& jumps);

    std::int32_t variable_;
    std::vector<float> thresholds_;    // rising
    std::vector<double> values_{0.0};  // values_[k] where k of the thresholds are below x
    double missing_ = 0.0;
};

}  // namespace fasthdmr
