// Sums of boxes: products of indicator functions of ranks at rows, and covariances of boxes under the product measure.
#include "kernels/declarations.hpp"

namespace fasthdmr::FASTHDMR_ISA {

namespace {

constexpr index kStep = 128;  // rows or boxes, whose products stay in the first-level cache

}  // namespace

void add_box(const BoxSide* sides, index n_sides, double value, index rows, double* out) {
    double product[kStep];
    for (index begin = 0; begin < rows; begin += kStep) {
        const index n = rows - begin < kStep ? rows - begin : kStep;
        for (index r = 0; r < n; ++r) product[r] = value;
        for (index s = 0; s < n_sides; ++s) {
            const BoxSide side = sides[s];
            const std::int32_t* ranks = side.ranks + begin;
            for (index r = 0; r < n; ++r) {
                const bool inside = (std::uint32_t(ranks[r] - side.low) < side.width) | (ranks[r] == side.missing);
                product[r] *= inside ? side.inside : side.outside;
            }
        }
        for (index r = 0; r < n; ++r) out[begin + r] += product[r];
    }
}

void add_covariances(const SideWeights* sides, index n_sides, const double* values, index a, index first, index count,
                     double* out) {
    double product[kStep];
    for (index begin = 0; begin < count; begin += kStep) {
        const index n = count - begin < kStep ? count - begin : kStep, b = first + begin;
        for (index k = 0; k < n; ++k) product[k] = values[a] * values[b + k];
        for (index s = 0; s < n_sides; ++s) {
            const SideWeights side = sides[s];
            const double low = side.low[a], high = side.high[a], probability = side.probability[a];
            const double *lows = side.low + b, *highs = side.high + b, *others = side.probability + b;
            const double* missing = side.missing + b;
            const bool has_missing = side.missing[a] != 0.0;
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
