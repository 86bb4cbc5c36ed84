#include "forest/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/kernels.hpp"
#include "support/sorting.hpp"

namespace fasthdmr {

namespace {

constexpr std::size_t kMostCodes = std::size_t(1) << 24;  // float32 holds whole numbers up to it exactly

}  // namespace

float largest_float_not_above(double threshold) {
    constexpr double largest = std::numeric_limits<float>::max();
    constexpr float infinity = std::numeric_limits<float>::infinity();
    if (threshold > largest) return threshold == infinity ? infinity : float(largest);
    if (threshold < -largest) return -infinity;
    const float rounded = float(threshold);
    return double(rounded) > threshold ? std::nextafter(rounded, -infinity) : rounded;
}

// float32 rounds to the nearest, a number in the middle to the even one of both; past the largest number infinity is the
// next, as if it were 2^128.
double largest_double_not_above(float threshold) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const auto finite = [](float v) { return std::isinf(v) ? std::copysign(0x1p128, double(v)) : double(v); };
    if (threshold == infinity) return infinity;
    const double middle = (finite(threshold) + finite(std::nextafter(threshold, infinity))) / 2.0;
    return float(middle) <= threshold ? middle : std::nextafter(middle, -double(infinity));
}

Comparison::Comparison(index n_features, std::vector<Replacement> replaced)
    : n_features_(n_features), replaced_(std::move(replaced)) {}

Comparison::Comparison(std::vector<std::vector<double>> thresholds, std::vector<Replacement> replaced)
    : n_features_(index(thresholds.size())), thresholds_(std::move(thresholds)), replaced_(std::move(replaced)) {
    if (!replaced_.empty() && replaced_.size() != thresholds_.size()) throw Error("every variable needs a replacement");
    for (const std::vector<double>& sorted : thresholds_) {
        if (sorted.size() > kMostCodes) throw Error("too many thresholds on a variable");
        for (std::size_t k = 0; k < sorted.size(); ++k)
            if (std::isnan(sorted[k]) || (k > 0 && !(sorted[k - 1] < sorted[k])))
                throw Error("the thresholds of a variable must be numbers that rise");
    }
}

// What is no split of numbers is left to the forest to refuse.
std::vector<std::vector<double>> Comparison::thresholds_of(const NodeArrays& a, index n_features) {
    std::vector<std::vector<double>> thresholds(n_features);
    for (index m = 0; m < a.n_nodes; ++m) {
        const bool splits = a.left[m] != -1 || a.right[m] != -1;
        if (splits && a.feature[m] >= 0 && a.feature[m] < n_features && !std::isnan(a.threshold[m]))
            thresholds[a.feature[m]].push_back(a.threshold[m]);
    }
    for (std::vector<double>& sorted : thresholds) {
        sort_in_steps(sorted);
        sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    }
    return thresholds;
}

float Comparison::code_of_threshold(index variable, double threshold) const {
    if (is_float32()) return largest_float_not_above(threshold);
    const std::vector<double>& sorted = thresholds_[variable];
    const auto at = std::lower_bound(sorted.begin(), sorted.end(), threshold);
    if (at == sorted.end() || *at != threshold) throw Error("a threshold that the comparison does not know");
    return float(at - sorted.begin());
}

double Comparison::threshold(index variable, float code) const {
    return is_float32() ? double(code) : thresholds_[variable][index(code)];
}

double Comparison::replace(index variable, double x) const {
    if (replaced_.empty()) return x;
    const auto [low, high, by] = replaced_[variable];
    return low <= x && x <= high ? by : x;
}

float Comparison::code(index variable, double x) const {
    float result;
    x = replace(variable, x);
    if (is_float32()) return float(x);
    load_coded(variable, &x, 1, &result);
    return result;
}

void Comparison::load(const Table& x, const Rows& rows, index variable, float* out) const {
    if (is_float32() && replaced_.empty() && !rows.list)
        return kernels().load(x.data + rows.start * x.row_stride + variable * x.column_stride, x.is_float32,
                              rows.stride * x.row_stride, rows.count, out);
    double values[kBlockRows];
    for (index begin = 0; begin < rows.count; begin += kBlockRows) {
        const index n = std::min(kBlockRows, rows.count - begin);
        for (index r = 0; r < n; ++r) values[r] = replace(variable, x.at(rows[begin + r], variable));
        if (is_float32())
            for (index r = 0; r < n; ++r) out[begin + r] = float(values[r]);
        else load_coded(variable, values, n, out + begin);
    }
}

// A binary search of all rows side by side: no branch depends on a row.
void Comparison::load_coded(index variable, const double* x, index rows, float* out) const {
    const std::vector<double>& sorted = thresholds_[variable];
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
    return n_features_ == other.n_features_ && thresholds_ == other.thresholds_ && replaced_ == other.replaced_;
}

}  // namespace fasthdmr
