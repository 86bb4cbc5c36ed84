// Thresholds in float32 and float64 that divide the same numbers. Inline: forests round the thresholds of all nodes.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "support/neighbour.hpp"

namespace fasthdmr {

// The largest float32 that is not above a threshold. A float32 x is above the threshold if and only if it is above this
// number.
inline float largest_float_not_above(double threshold) {
    constexpr double largest = std::numeric_limits<float>::max();
    constexpr float infinity = std::numeric_limits<float>::infinity();
    if (threshold > largest) return threshold == infinity ? infinity : float(largest);
    if (threshold < -largest) return -infinity;
    const float rounded = float(threshold);
    return double(rounded) > threshold ? std::nextafter(rounded, -infinity) : rounded;
}

// The largest float64 whose rounding to float32 is not above the threshold.
//
// Conversion to float32 rounds to the nearest number, and a midpoint to the neighbour with an even last bit. For
// rounding, infinity, the next number above the largest float32, counts as 2^128. The middle is never 0.
inline double largest_double_not_above(float threshold) {
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

// The smallest float64 whose rounding to float32 is not below the threshold.
inline double smallest_double_not_below(float threshold) { return -largest_double_not_above(-threshold); }

}  // namespace fasthdmr
