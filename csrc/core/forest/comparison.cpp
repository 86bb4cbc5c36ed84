#include "forest/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "forest/rounding.hpp"
#include "kernels/kernels.hpp"
#include "support/interruption.hpp"
#include "support/sorting.hpp"

namespace fasthdmr {

namespace {

constexpr std::size_t kMostCodes = std::size_t(1) << 24;  // float32 represents integers up to this one exactly

}  // namespace

Comparison::Comparison(index n_features, std::vector<Replacement> replaced)
    : n_features_(n_features), replaced_(std::move(replaced)) {}

Comparison::Comparison(std::vector<std::vector<double>> thresholds, std::vector<Replacement> replaced, ValueSets sets)
    : n_features_(index(thresholds.size())),
      thresholds_(std::move(thresholds)),
      replaced_(std::move(replaced)),
      sets_(std::move(sets)) {
    check();
    mark_sets(codes_of_cuts());
}

Comparison::Comparison(std::vector<std::vector<double>> thresholds, std::vector<Replacement> replaced, ValueSets sets,
                       const std::vector<std::int32_t>& codes_of_cuts)
    : n_features_(index(thresholds.size())),
      thresholds_(std::move(thresholds)),
      replaced_(std::move(replaced)),
      sets_(std::move(sets)) {
    check();
    mark_sets(codes_of_cuts);
}

void Comparison::check() const {
    if (!replaced_.empty() && replaced_.size() != thresholds_.size()) throw Error("every feature needs a replacement");
    for (const std::vector<double>& sorted : thresholds_) {
        if (sorted.size() > kMostCodes) throw Error("too many thresholds on a feature");
        for (std::size_t k = 0; k < sorted.size(); ++k)
            if (std::isnan(sorted[k]) || (k > 0 && !(sorted[k - 1] < sorted[k])))
                throw Error("the thresholds of a feature must be ascending numbers");
    }
    for (index s = 0; s < sets_.size(); ++s) {
        const ValueSet set = sets_[s];
        if (set.feature < 0 || set.feature >= n_features_)
            throw Error("a set of values must be of one of the variables");
        if (set.size() % 2 != 0 || !std::is_sorted(set.begin(), set.end()))
            throw Error("the cuts of a set must be ascending pairs");
        if (s > 0 && !(sets_[s - 1] < set)) throw Error("the sets must ascend");
    }
}

std::vector<std::int32_t> Comparison::codes_of_cuts() const {
    std::vector<std::int32_t> codes;
    codes.reserve(sets_.n_cuts());
    for (index s = 0; s < sets_.size(); ++s)
        for (const double cut : sets_[s]) codes.push_back(std::int32_t(code_of_threshold(sets_[s].feature, cut)));
    return codes;
}

void Comparison::mark_sets(const std::vector<std::int32_t>& codes_of_cuts) {
    const std::int32_t* cut = codes_of_cuts.data();
    index begin = 0;
    for (index s = 0; s < sets_.size(); ++s) {
        outside_begin_.push_back(begin);
        begin += codes_and_missing(n_features_ + s);
    }
    outside_.assign(begin, 1);
    for (index s = 0; s < sets_.size(); ++s) {
        poll();
        std::uint8_t* outside = outside_.data() + outside_begin_[s];
        outside[codes_and_missing(n_features_ + s) - 1] = 2;
        for (index k = 0; k < sets_[s].size(); k += 2, cut += 2)
            std::fill(outside + cut[0] + 1, outside + cut[1] + 1, std::uint8_t(0));
    }
}

void sort_thresholds(std::vector<double>& thresholds) {
    sort_in_steps(thresholds);
    thresholds.erase(std::unique(thresholds.begin(), thresholds.end()), thresholds.end());
}

Comparison Comparison::without_sets() const {
    Comparison result = *this;
    result.sets_ = {};
    result.outside_.clear();
    result.outside_begin_.clear();
    return result;
}

Comparison Comparison::of_variables(std::vector<std::int32_t> variables, index first) const {
    if (first < 0) throw Error("the first column must not be negative");
    if (!variables.empty() && index(variables.size()) != n_features_) throw Error("every feature needs a variable");
    bool are_features = true;
    for (std::size_t j = 0; j < variables.size(); ++j) {
        if (variables[j] < 0) throw Error("no such variable: " + std::to_string(variables[j]));
        are_features &= variables[j] == std::int32_t(j);
    }
    Comparison result = *this;
    result.first_ = first;
    result.variables_ = are_features ? std::vector<std::int32_t>() : std::move(variables);
    return result;
}

index Comparison::column(const ValueSet& set) const {
    const index at = sets_.find(set);
    if (at < 0) throw Error("the comparison has no such set of values");
    return n_features_ + at;
}

float Comparison::code_of_threshold(index feature, double threshold) const {
    if (is_float32()) return largest_float_not_above(threshold);
    const std::vector<double>& sorted = thresholds_[feature];
    // A binary search without branches: whether a number lies below the threshold of a node cannot be predicted.
    const double* at = sorted.data();
    for (index n = index(sorted.size()); n > 1;) {
        const index half = n / 2;
        at += index(at[half - 1] < threshold) * half;
        n -= half;
    }
    if (sorted.empty() || *at != threshold) throw Error("the comparison has no such threshold");
    return float(at - sorted.data());
}

double Comparison::threshold(index feature, float code) const {
    return is_float32() ? double(code) : thresholds_[feature][index(code)];
}

double Comparison::replace(index feature, double x) const {
    if (replaced_.empty()) return x;
    const auto [low, high, by] = replaced_[feature];
    return low <= x && x <= high ? by : x;
}

float Comparison::code(index feature, double x) const {
    float result;
    x = replace(feature, x);
    if (is_float32()) return float(x);
    load_coded(feature, &x, 1, &result);
    return result;
}

void Comparison::load(const Table& x, const Rows& rows, index feature, float* out) const {
    if (is_float32() && replaced_.empty() && !rows.list)
        return kernels().load(x.data + rows.start * x.row_stride + (first_ + feature) * x.column_stride, x.is_float32,
                              rows.stride * x.row_stride, rows.count, out);
    double values[kBlockRows];
    for (index begin = 0; begin < rows.count; begin += kBlockRows) {
        const index n = std::min(kBlockRows, rows.count - begin);
        for (index r = 0; r < n; ++r) values[r] = replace(feature, x.at(rows[begin + r], first_ + feature));
        if (is_float32())
            for (index r = 0; r < n; ++r) out[begin + r] = float(values[r]);
        else load_coded(feature, values, n, out + begin);
    }
}

void Comparison::load_set(index column, const float* codes, index rows, float* out) const {
    const std::uint8_t* outside = this->outside(column);
    for (index r = 0; r < rows; ++r) out[r] = std::isnan(codes[r]) ? codes[r] : float(outside[index(codes[r])]);
}

// A binary search for all rows at once: each step is a loop over the rows, which has no branches and is vectorised.
void Comparison::load_coded(index feature, const double* x, index rows, float* out) const {
    const std::vector<double>& sorted = thresholds_[feature];
    std::int32_t below[kBlockRows] = {};
    for (std::int32_t left = std::int32_t(sorted.size()); left > 0;) {
        const std::int32_t half = (left + 1) / 2;
        const double* probe = sorted.data() + half - 1;
        for (index r = 0; r < rows; ++r) below[r] += std::int32_t(probe[below[r]] < x[r]) * half;
        left -= half;
    }
    for (index r = 0; r < rows; ++r)
        out[r] = std::isnan(x[r]) ? std::numeric_limits<float>::quiet_NaN() : float(below[r]);
}

bool Replacement::operator==(const Replacement& other) const {
    return low == other.low && high == other.high && (by == other.by || (std::isnan(by) && std::isnan(other.by)));
}

bool Comparison::operator==(const Comparison& other) const {
    return n_features_ == other.n_features_ && thresholds_ == other.thresholds_ && replaced_ == other.replaced_ &&
           sets_ == other.sets_ && first_ == other.first_ && variables_ == other.variables_;
}

}  // namespace fasthdmr
