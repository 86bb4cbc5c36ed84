#include "kernel_set.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace fasthdmr::FASTHDMR_ISA {

// A binary search of all rows side by side: no branch depends on a row.
void rank(const float* thresholds, std::int32_t n, const float* x, index rows, std::int32_t* ranks) {
    index r = 0;
#if defined(__AVX512F__)
    constexpr int side = 4;  // vectors at a time, so that their gathers overlap
    for (; r + 16 * side <= rows; r += 16 * side) {
        __m512 value[side];
        __m512i found[side];
        for (int k = 0; k < side; ++k) {
            value[k] = _mm512_loadu_ps(x + r + 16 * k);
            found[k] = _mm512_setzero_si512();
        }
        for (std::int32_t left = n; left > 0;) {
            const std::int32_t half = (left + 1) / 2;
            for (int k = 0; k < side; ++k) {
                const __m512 probe = _mm512_i32gather_ps(found[k], thresholds + half - 1, 4);
                const __mmask16 above = _mm512_cmp_ps_mask(probe, value[k], _CMP_LT_OQ);
                found[k] = _mm512_mask_add_epi32(found[k], above, found[k], _mm512_set1_epi32(half));
            }
            left -= half;
        }
        for (int k = 0; k < side; ++k) {
            const __mmask16 missing = _mm512_cmp_ps_mask(value[k], value[k], _CMP_UNORD_Q);
            _mm512_storeu_si512(ranks + r + 16 * k, _mm512_mask_set1_epi32(found[k], missing, n + 1));
        }
    }
#endif
    const index first = r;
    for (r = first; r < rows; ++r) ranks[r] = 0;
    for (std::int32_t left = n; left > 0;) {
        const std::int32_t half = (left + 1) / 2;
        const float* probe = thresholds + half - 1;
        for (r = first; r < rows; ++r) ranks[r] += std::int32_t(probe[ranks[r]] < x[r]) * half;
        left -= half;
    }
    for (r = first; r < rows; ++r)
        if (x[r] != x[r]) ranks[r] = n + 1;
}

void take(const std::int32_t* places, const std::int32_t* ranks, index rows, std::int32_t* out) {
    for (index r = 0; r < rows; ++r) out[r] = places[ranks[r]];
}

void add_cells(const double* cells, std::int32_t stride, const std::int32_t* a, const std::int32_t* b, index rows,
               double* out) {
    if (!b) {
        for (index r = 0; r < rows; ++r) out[r] += cells[a[r]];
        return;
    }
    index r = 0;
#if defined(__AVX512F__)
    for (; r + 8 <= rows; r += 8) {
        const __m256i major = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a + r));
        const __m256i minor = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + r));
        const __m256i cell = _mm256_add_epi32(_mm256_mullo_epi32(major, _mm256_set1_epi32(stride)), minor);
        const __m512d sum = _mm512_add_pd(_mm512_loadu_pd(out + r), _mm512_i32gather_pd(cell, cells, 8));
        _mm512_storeu_pd(out + r, sum);
    }
#endif
    for (; r < rows; ++r) out[r] += cells[a[r] * stride + b[r]];
}

}  // namespace fasthdmr::FASTHDMR_ISA
