// Sums over boxes, where a box is a product of functions of one rank each: their values at rows, and the covariances of
// boxes under the product measure.
#include "kernels/declarations.hpp"

namespace fasthdmr::FASTHDMR_ISA {

namespace {

constexpr index kStep = 128;  // rows or boxes at a time: their products stay in the first-level cache

}  // namespace

void add_box(const IntervalFactor* factors, index n_factors, double value, index rows, double* out) {
    double product[kStep];
    for (index begin = 0; begin < rows; begin += kStep) {
        const index n = rows - begin < kStep ? rows - begin : kStep;
        for (index r = 0; r < n; ++r) product[r] = value;
        for (index k = 0; k < n_factors; ++k) {
            const IntervalFactor factor = factors[k];
            const std::int32_t* ranks = factor.ranks + begin;
            for (index r = 0; r < n; ++r) {
                const bool inside =
                    (std::uint32_t(ranks[r] - factor.low) < factor.width) | (ranks[r] == factor.missing);
                product[r] *= inside ? factor.inside : factor.outside;
            }
        }
        for (index r = 0; r < n; ++r) out[begin + r] += product[r];
    }
}

void add_covariances(const IntervalProbabilities* intervals, index n_intervals, const double* values, index a,
                     index first, index count, double* out) {
    double product[kStep];
    for (index begin = 0; begin < count; begin += kStep) {
        const index n = count - begin < kStep ? count - begin : kStep, b = first + begin;
        for (index k = 0; k < n; ++k) product[k] = values[a] * values[b + k];
        for (index s = 0; s < n_intervals; ++s) {
            const IntervalProbabilities& of = intervals[s];
            const double low = of.low[a], high = of.high[a], probability = of.total[a];
            const double *lows = of.low + b, *highs = of.high + b, *others = of.total + b;
            const double* missing = of.missing + b;
            const bool has_missing = of.missing[a] != 0.0;
            for (index k = 0; k < n; ++k) {
                const double from = lows[k] > low ? lows[k] : low, to = highs[k] < high ? highs[k] : high;
                const double shared = to > from ? to - from : 0.0;
                product[k] *= shared + (has_missing ? missing[k] : 0.0) - probability * others[k];
            }
        }
        for (index k = 0; k < n; ++k) out[begin + k] += product[k];
    }
}

}  // namespace fasthdmr::FASTHDMR_ISA
