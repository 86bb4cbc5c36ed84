#include "forest/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>
#include <utility>

#include "kernels/kernels.hpp"
#include "support/interruption.hpp"
#include "support/neighbour.hpp"
#include "support/sorting.hpp"

namespace fasthdmr {

namespace {

constexpr std::size_t kMostCodes = std::size_t(1) << 24;  // float32 represents integers up to this one exactly

// Recognises most numbers of a feature that it has seen before. Libraries that bin the columns repeat a few hundred
// thresholds in many nodes, and sorting all of them would take longer.
class Repeats {
public:
    explicit Repeats(index n_numbers) : bits_(1) {
        while (bits_ < kMostBits && (index(1) << bits_) < n_numbers) ++bits_;
        seen_.resize(std::size_t(1) << bits_, {-1, 0.0});
    }

    // Returns false for every new number, and for some others.
    bool has(std::int64_t feature, double number) {
        constexpr std::uint64_t golden = 0x9E3779B97F4A7C15;
        std::uint64_t bits;
        std::memcpy(&bits, &number, sizeof bits);
        const std::pair<std::int64_t, double> both(feature, number);
        auto& last = seen_[(bits + std::uint64_t(feature)) * golden >> (64 - bits_)];
        if (last == both) return true;
        last = both;
        return false;
    }

private:
    static constexpr int kMostBits = 13;
    int bits_;
    std::vector<std::pair<std::int64_t, double>> seen_;
};

}  // namespace

float largest_float_not_above(double threshold) {
    constexpr double largest = std::numeric_limits<float>::max();
    constexpr float infinity = std::numeric_limits<float>::infinity();
    if (threshold > largest) return threshold == infinity ? infinity : float(largest);
    if (threshold < -largest) return -infinity;
    const float rounded = float(threshold);
    return double(rounded) > threshold ? std::nextafter(rounded, -infinity) : rounded;
}

// Conversion to float32 rounds to the nearest number, and a midpoint to the neighbour with an even last bit. For
// rounding, infinity, the next number above the largest float32, counts as 2^128. The middle is never 0.
double largest_double_not_above(float threshold) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const auto finite = [](float v) { return std::isinf(v) ? std::copysign(0x1p128, double(v)) : double(v); };
    if (threshold == infinity) return infinity;
    const double middle = (finite(threshold) + finite(neighbour(threshold, 1))) * 0.5;
    // The middle, or the next smaller number, without a branch: which one it is cannot be predicted.
    std::int64_t bits;
    std::memcpy(&bits, &middle, sizeof bits);
    bits += std::int64_t(float(middle) > threshold) * (middle > 0.0 ? -1 : 1);
    double result;
    std::memcpy(&result, &bits, sizeof result);
    return result;
}

double smallest_double_not_below(float threshold) { return -largest_double_not_above(-threshold); }

Comparison::Comparison(index n_features, std::vector<Replacement> replaced)
    : n_features_(n_features), replaced_(std::move(replaced)) {}

Comparison::Comparison(std::vector<std::vector<double>> thresholds, std::vector<Replacement> replaced,
                       std::vector<ValueSet> sets)
    : n_features_(index(thresholds.size())),
      thresholds_(std::move(thresholds)),
      replaced_(std::move(replaced)),
      sets_(std::move(sets)) {
    check();
    mark_sets();
}

void Comparison::check() const {
    if (!replaced_.empty() && replaced_.size() != thresholds_.size()) throw Error("every feature needs a replacement");
    for (const std::vector<double>& sorted : thresholds_) {
        if (sorted.size() > kMostCodes) throw Error("too many thresholds on a feature");
        for (std::size_t k = 0; k < sorted.size(); ++k)
            if (std::isnan(sorted[k]) || (k > 0 && !(sorted[k - 1] < sorted[k])))
                throw Error("the thresholds of a feature must be ascending numbers");
    }
    for (std::size_t s = 0; s < sets_.size(); ++s) {
        if (sets_[s].feature < 0 || sets_[s].feature >= n_features_)
            throw Error("a set of values must be of one of the variables");
        if (sets_[s].cuts.size() % 2 != 0 || !std::is_sorted(sets_[s].cuts.begin(), sets_[s].cuts.end()))
            throw Error("the cuts of a set must be ascending pairs");
        if (s > 0 && !(sets_[s - 1] < sets_[s])) throw Error("the sets must ascend");
    }
}

void Comparison::mark_sets() {
    outside_.reserve(sets_.size());
    for (const ValueSet& set : sets_) {
        poll();
        const std::vector<double>& sorted = thresholds_[set.feature];
        std::vector<std::uint8_t> outside(sorted.size() + 2, 1);
        outside.back() = 2;
        for (std::size_t k = 0; k < set.cuts.size(); k += 2) {
            const auto begin = index(code_of_threshold(set.feature, set.cuts[k]));
            const auto end = index(code_of_threshold(set.feature, set.cuts[k + 1]));
            std::fill(outside.begin() + begin + 1, outside.begin() + end + 1, std::uint8_t(0));
        }
        outside_.push_back(std::move(outside));
    }
}

void sort_thresholds(std::vector<double>& thresholds) {
    sort_in_steps(thresholds);
    thresholds.erase(std::unique(thresholds.begin(), thresholds.end()), thresholds.end());
}

namespace {

// Sorts intervals (low, high], given as pairs of numbers, and merges those that overlap or touch. Returns how many
// numbers are left.
index merged(double* ends, index count) {
    std::vector<std::pair<double, double>> pairs;
    for (index k = 0; k < count; ++k) pairs.emplace_back(ends[2 * k], ends[2 * k + 1]);
    std::sort(pairs.begin(), pairs.end());
    index size = 0;
    for (const auto& [low, high] : pairs) {
        if (size > 0 && low <= ends[size - 1]) {
            ends[size - 1] = std::max(ends[size - 1], high);
            continue;
        }
        ends[size++] = low;
        ends[size++] = high;
    }
    return size;
}

}  // namespace

void SetCuts::append(const std::vector<double>& cuts) {
    cuts_.insert(cuts_.end(), cuts.begin(), cuts.end());
    offsets_.push_back(index(cuts_.size()));
}

void SetCuts::append_union(const double* intervals, index count, bool rounds) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const auto first = index(cuts_.size());
    bool ascends = true;
    for (index k = 0; k < count; ++k) {
        const double low = intervals[2 * k], high = intervals[2 * k + 1];
        if (!(low <= high)) throw Error("the ends of the intervals of a set must be ascending numbers");
        const double least = rounds ? smallest_double_not_below(float(low)) : low;
        const double below = least == -infinity ? least : neighbour(least, -1);
        ascends &= k == 0 || cuts_.back() < below;
        cuts_.push_back(below);
        cuts_.push_back(rounds ? largest_double_not_above(float(high)) : high);
    }
    if (!ascends) cuts_.resize(first + merged(cuts_.data() + first, count));
    offsets_.push_back(index(cuts_.size()));
}

namespace {

// A node that splits by a set. They are sorted as the sets are.
struct SetSplit {
    std::int64_t feature;
    const double *begin, *end;  // its cuts
    index node;

    bool operator<(const SetSplit& other) const {
        if (feature != other.feature) return feature < other.feature;
        return std::lexicographical_compare(begin, end, other.begin, other.end);
    }
    bool is_of(const ValueSet& set) const {
        return feature == set.feature && std::equal(begin, end, set.cuts.begin(), set.cuts.end());
    }
};

}  // namespace

// Invalid splits are skipped here: the constructor of Forest reports them.
Comparison Comparison::of_nodes(const NodeArrays& a, std::vector<Replacement> replaced, const SetCuts& cuts,
                                std::int64_t* numbers) {
    std::vector<std::vector<double>> thresholds(replaced.size());
    std::vector<SetSplit> by_set;
    Repeats repeats(a.n_nodes);
    const auto add = [&](std::int64_t feature, double x) {
        if (!repeats.has(feature, x)) thresholds[feature].push_back(x);
    };
    if (numbers) std::fill(numbers, numbers + a.n_nodes, -1);
    for (index m = 0; m < a.n_nodes; ++m) {
        const bool splits = a.left[m] != -1 || a.right[m] != -1;
        if (!splits || a.feature[m] < 0 || a.feature[m] >= index(thresholds.size())) continue;
        const index set = a.set ? a.set[m] : -1;
        if (set >= cuts.size()) throw Error("no such set of values: " + std::to_string(set));
        if (set >= 0) by_set.push_back({a.feature[m], cuts.begin(set), cuts.end(set), m});
        else if (!std::isnan(a.threshold[m])) add(a.feature[m], a.threshold[m]);
    }
    std::sort(by_set.begin(), by_set.end());
    std::vector<ValueSet> sets;
    for (const SetSplit& split : by_set) {
        if (sets.empty() || !split.is_of(sets.back())) {
            sets.push_back({split.feature, {split.begin, split.end}});
            for (const double cut : sets.back().cuts) add(split.feature, cut);
        }
        if (numbers) numbers[split.node] = index(sets.size()) - 1;
    }
    for (std::vector<double>& of : thresholds) sort_thresholds(of);
    return {std::move(thresholds), std::move(replaced), std::move(sets)};
}

Comparison Comparison::without_sets() const {
    Comparison result = *this;
    result.sets_.clear();
    result.outside_.clear();
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
    const auto at = std::lower_bound(sets_.begin(), sets_.end(), set);
    if (at == sets_.end() || !(*at == set)) throw Error("the comparison has no such set of values");
    return n_features_ + (at - sets_.begin());
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
    const std::vector<std::uint8_t>& outside = outside_[column - n_features_];
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
