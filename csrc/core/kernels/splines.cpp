// The normal scores of values, and the cubic B-splines of these, for some rows at a time: a vector register holds as many
// rows as it has lanes.
#include "kernels/compiler.hpp"
#include "kernels/declarations.hpp"

namespace fasthdmr::FASTHDMR_ISA {

namespace {

constexpr index kRows = 64;  // at a time: they stay in the first-level cache

inline index rows_of(index begin, index rows) { return rows - begin < kRows ? rows - begin : kRows; }

// Binary searches for the last of n values that is at most x. A branch would be mispredicted half of the time.
void search(const double* values, index n, const double* x, index rows, index* found) {
    for (index r = 0; r < rows; ++r) found[r] = 0;
    for (; n > 1; n -= n / 2)
        for (index r = 0; r < rows; ++r) found[r] += values[found[r] + n / 2] <= x[r] ? n / 2 : 0;
}

// A step of the Cox-de Boor recursion: divides a spline of lower degree between two of the next. The ratio of two lengths
// does not overflow, even if the interval is very short.
inline void divide(double right, double left, double& saved, double& value) {
    const double part = right / (right + left) * value, rest = value - part;
    value = saved + part;
    saved = rest;
}

}  // namespace

void interpolate(const double* values, const double* scores, index n, double* x, index rows) {
    index found[kRows];
    for (index begin = 0; begin < rows; begin += kRows) {
        const index count = rows_of(begin, rows);
        double* own = x + begin;
        search(values, n - 1, own, count, found);
        for (index r = 0; r < count; ++r) {
            const double low = values[found[r]], high = values[found[r] + 1], score = scores[found[r]];
            const double between = score + (own[r] - low) / (high - low) * (scores[found[r] + 1] - score);
            const double above = own[r] >= values[n - 1] ? scores[n - 1] : between;
            own[r] = own[r] <= values[0] ? scores[0] : above;
        }
    }
}

void locate(const double* breaks, index n, const double* x, index rows, std::int32_t* intervals) {
    for (index r = 0; r < rows; ++r) intervals[r] = 0;
    for (index k = 1; k + 1 < n; ++k)
        for (index r = 0; r < rows; ++r) intervals[r] += breaks[k] <= x[r];
}

void evaluate_cubics(const double* knots, const std::int32_t* first, const double* x, index rows, double* values) {
    double t[6][kRows], v[4][kRows];
    for (index begin = 0; begin < rows; begin += kRows) {
        const index count = rows_of(begin, rows);
        for (index r = 0; r < count; ++r)
            for (int k = 0; k < 6; ++k) t[k][r] = knots[first[begin + r] + 1 + k];
        for (index r = 0; r < count; ++r) {
            const double at = x[begin + r];
            const double left[3] = {at - t[2][r], at - t[1][r], at - t[0][r]};
            const double right[3] = {t[3][r] - at, t[4][r] - at, t[5][r] - at};
            double value[4] = {1.0};
            FASTHDMR_UNROLL
            for (int d = 1; d <= 3; ++d) {
                double saved = 0.0;
                FASTHDMR_UNROLL
                for (int k = 0; k < d; ++k) divide(right[k], left[d - 1 - k], saved, value[k]);
                value[d] = saved;
            }
            for (int k = 0; k < 4; ++k) v[k][r] = value[k];
        }
        for (index r = 0; r < count; ++r)
            for (int k = 0; k < 4; ++k) values[(begin + r) * 4 + k] = v[k][r];
    }
}

}  // namespace fasthdmr::FASTHDMR_ISA
