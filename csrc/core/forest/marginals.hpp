// Marginal distributions of the quantised variables: the weight of each rank. Missing values have the last rank.
#pragma once

#include <memory>
#include <vector>

#include "forest/quantiser.hpp"

namespace fasthdmr {

class Marginals {
public:
    // The distribution of the rows, with weights or (null) equal ones, quantised by the thresholds of all forests.
    Marginals(const std::vector<std::shared_ptr<const Forest>>& forests, const Table& x, const double* weight,
              int n_threads);
    // From the comparison, the sorted thresholds and the cumulative weights of another object.
    Marginals(std::shared_ptr<const Comparison> comparison, std::vector<std::vector<float>> sorted,
              std::vector<std::vector<double>> below);

    // The distribution of the rows of both, which must be quantised alike.
    Marginals merged(const Marginals& other) const;

    const std::shared_ptr<const Comparison>& comparison() const { return comparison_; }
    const Thresholds& thresholds() const { return thresholds_; }
    // Cumulative weights: below[r] is the weight of all ranks less than r, for r = 0, ..., number of thresholds + 2.
    const std::vector<double>& below(index variable) const { return below_[variable]; }
    // The rank from which on values go right at a node with this threshold, which must be one of the forests'.
    std::int32_t split(index variable, float threshold) const;

    double probability(index variable, std::int32_t low, std::int32_t high) const {
        const std::vector<double>& below = below_[variable];
        return (below[high] - below[low]) / below.back();
    }
    double missing(index variable) const {
        const std::int32_t rank = thresholds_.count(variable) + 1;
        return probability(variable, rank, rank + 1);
    }

private:
    void check(index variable) const;
    void count(const Table& x, const double* weight, index variable);

    std::shared_ptr<const Comparison> comparison_;
    Thresholds thresholds_;
    std::vector<std::vector<double>> below_;
};

}  // namespace fasthdmr
