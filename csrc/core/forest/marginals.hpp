// Marginal distributions of the quantised variables: the weight of each rank. Missing values have the last rank.
#pragma once

#include <memory>
#include <vector>

#include "forest/quantiser.hpp"

namespace fasthdmr {

class Marginals {
public:
    // From rows, weighted or not (null), quantised by the thresholds of all forests.
    Marginals(const std::vector<std::shared_ptr<const Forest>>& forests, const Table& x, const double* weight,
              int n_threads);
    // As `comparison`, `sorted` and `below` of another one.
    Marginals(std::shared_ptr<const Comparison> comparison, std::vector<std::vector<float>> sorted,
              std::vector<std::vector<double>> below);

    const std::shared_ptr<const Comparison>& comparison() const { return comparison_; }
    const Thresholds& thresholds() const { return thresholds_; }
    // The weight of lower ranks, for ranks from 0 to two more than the number of thresholds.
    const std::vector<double>& below(index variable) const { return below_[variable]; }
    // A value goes left at a node with this threshold if its rank is lower. The threshold must be known.
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
