// Quantisation: columns of input as float32, and the ranks of their values among the thresholds of a variable.
#include <cstring>

#include "kernels/declarations.hpp"
#include "kernels/tiles.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>

#include "kernels/vector_search.hpp"
#endif

namespace fasthdmr::FASTHDMR_ISA {

namespace {

template <class T>
void load_from(index first, const char* data, index stride, index rows, float* out) {
    for (index r = first; r < rows; ++r) {
        T value;
        std::memcpy(&value, data + r * stride, sizeof value);
        out[r] = float(value);
    }
}

#if defined(__AVX512F__)

index gather(const char* data, index stride, index rows, float* out) {
    const __m512i offsets =
        _mm512_set_epi64(7 * stride, 6 * stride, 5 * stride, 4 * stride, 3 * stride, 2 * stride, stride, 0);
    index r = 0;
    for (; r + 8 <= rows; r += 8)
        _mm256_storeu_ps(out + r, _mm512_cvtpd_ps(_mm512_i64gather_pd(offsets, data + r * stride, 1)));
    return r;
}

#endif

}  // namespace

void load(const char* data, bool is_float32, index stride, index rows, float* out) {
    if (is_float32) return load_from<float>(0, data, stride, rows, out);
    index first = 0;
#if defined(__AVX512F__)
    if (stride != index(sizeof(double))) first = gather(data, stride, rows, out);
#endif
    load_from<double>(first, data, stride, rows, out);
}

// Each step of the binary search is a loop over all rows, without branches on the data.
void rank(const float* thresholds, std::int32_t n, const float* x, index rows, std::int32_t* ranks) {
    index first = 0;
#if defined(__AVX512F__)
    if (rows >= VectorSearch::kGroup) first = VectorSearch(thresholds, n).rank(x, rows, ranks);
#endif
    for (index r = first; r < rows; ++r) ranks[r] = 0;
    for (std::int32_t left = n; left > 0;) {
        const std::int32_t half = (left + 1) / 2;
        const float* probe = thresholds + half - 1;
        for (index r = first; r < rows; ++r) ranks[r] += std::int32_t(probe[ranks[r]] < x[r]) * half;
        left -= half;
    }
    for (index r = first; r < rows; ++r)
        if (x[r] != x[r]) ranks[r] = n + 1;
}

void encode(const std::int32_t* ranks, index rows, std::int16_t* codes) {
    const index in_whole_tiles = rows - rows % kTile;
    if (in_whole_tiles < rows) std::memset(codes + in_whole_tiles, 0, kTile * sizeof *codes);
    for (index r = 0; r < rows; ++r) codes[position_in_tile(r)] = std::int16_t(ranks[r] + kLowestCode);
}

}  // namespace fasthdmr::FASTHDMR_ISA
