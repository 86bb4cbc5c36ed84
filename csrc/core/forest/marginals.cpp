#include "forest/marginals.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/kernels.hpp"
#include "support/parallel.hpp"
#include "support/sorting.hpp"

namespace fasthdmr {

namespace {

std::vector<std::vector<float>> all_thresholds(const std::vector<std::shared_ptr<const Forest>>& forests) {
    std::vector<std::vector<float>> sorted(forests.front()->n_features());
    for (const auto& forest : forests) {
        if (forest->n_features() != index(sorted.size())) throw Error("the forests have different numbers of features");
        if (!forest->comparison()->is_of_input())
            throw Error("marginal distributions need features that are the columns of x");
        if (!same(forest->comparison(), forests.front()->comparison()))
            throw Error("the forests compare values in different ways");
        for (index t = 0; t < forest->n_trees(); ++t) {
            poll();
            for (index m = 0; m < forest->tree_size(t); ++m)
                if (const Node& node = forest->tree(t)[m];
                    !Forest::is_leaf(forest->tree(t), m) && node.feature < forest->n_features())
                    sorted[node.feature].push_back(node.threshold);
        }
        const ValueSets& sets = forest->comparison()->sets();
        for (index s = 0; s < sets.size(); ++s)
            for (const double cut : sets[s])
                sorted[sets[s].feature].push_back(forest->comparison()->code_of_threshold(sets[s].feature, cut));
    }
    for (std::vector<float>& of : sorted) {
        sort_in_steps(of);
        of.erase(std::unique(of.begin(), of.end()), of.end());
    }
    return sorted;
}

}  // namespace

Marginals::Marginals(const std::vector<std::shared_ptr<const Forest>>& forests, const Table& x, const double* weight,
                     int n_threads)
    : comparison_(forests.front()->comparison()),
      thresholds_(all_thresholds(forests)),
      below_(thresholds_.variables()) {
    if (x.columns != thresholds_.variables())
        throw Error("x has another number of columns than the forests have features");
    parallel_for(x.columns, n_threads, [&](index variable) { count(x, weight, variable); });
}

Marginals::Marginals(std::shared_ptr<const Comparison> comparison, std::vector<std::vector<float>> sorted,
                     std::vector<std::vector<double>> below)
    : comparison_(std::move(comparison)), thresholds_(std::move(sorted)), below_(std::move(below)) {
    if (index(below_.size()) != thresholds_.variables() || comparison_->n_features() != thresholds_.variables())
        throw Error("every variable needs a marginal distribution");
    for (index v = 0; v < thresholds_.variables(); ++v) check(v);
}

Marginals Marginals::merged(const Marginals& other) const {
    bool alike = same(comparison_, other.comparison_) && below_.size() == other.below_.size();
    for (index v = 0; v < index(below_.size()) && alike; ++v)
        alike = thresholds_.count(v) == other.thresholds_.count(v) &&
                std::equal(thresholds_.sorted(v), thresholds_.sorted(v) + thresholds_.count(v),
                           other.thresholds_.sorted(v));
    if (!alike) throw Error("marginal distributions of different forests cannot be merged");
    Marginals sum = *this;
    for (std::size_t v = 0; v < below_.size(); ++v)
        for (std::size_t k = 0; k < below_[v].size(); ++k) sum.below_[v][k] += other.below_[v][k];
    return sum;
}

void Marginals::check(index variable) const {
    const float* sorted = thresholds_.sorted(variable);
    for (std::int32_t k = 0; k < thresholds_.count(variable); ++k)
        if (std::isnan(sorted[k]) || (k > 0 && !(sorted[k - 1] < sorted[k])))
            throw Error("the thresholds of a marginal distribution must be ascending numbers");
    const std::vector<double>& below = below_[variable];
    if (index(below.size()) != thresholds_.count(variable) + 3)
        throw Error("a marginal distribution needs a weight for every rank");
    for (std::size_t k = 1; k < below.size(); ++k)
        if (!(below[k - 1] <= below[k]))
            throw Error("the weights below the ranks of a marginal distribution must ascend");
    if (below.front() != 0.0 || !(below.back() > 0.0) || !std::isfinite(below.back()))
        throw Error("a marginal distribution must have a positive and finite weight");
}

std::int32_t Marginals::split(index variable, float threshold) const {
    const float* sorted = thresholds_.sorted(variable);
    const float* end = sorted + thresholds_.count(variable);
    const float* at = std::lower_bound(sorted, end, threshold);
    if (at == end || *at != threshold) throw Error("the marginal distributions are those of other forests");
    return std::int32_t(at - sorted) + 1;
}

// The rows of a variable are summed in order by one thread, so sums are bit-identical for any number of threads.
void Marginals::count(const Table& x, const double* weight, index variable) {
    const std::int32_t n = thresholds_.count(variable);
    std::vector<double>& below = below_[variable];
    below.assign(n + 3, 0.0);
    Buffer<float> values(kBlockRows);
    Buffer<std::int32_t> ranks(kBlockRows);
    for (index begin = 0; begin < x.rows; begin += kBlockRows) {
        poll();
        const index rows = std::min(kBlockRows, x.rows - begin);
        comparison_->load(x, {begin, 1, rows}, variable, values.data());
        kernels().rank(thresholds_.sorted(variable), n, values.data(), rows, ranks.data());
        for (index r = 0; r < rows; ++r) below[ranks[r] + 1] += weight ? weight[begin + r] : 1.0;
    }
    for (std::int32_t rank = 0; rank < n + 2; ++rank) below[rank + 1] += below[rank];
}

}  // namespace fasthdmr
