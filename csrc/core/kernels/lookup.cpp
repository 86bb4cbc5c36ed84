// Lookup in tables of one or two variables: from ranks to positions along an axis, and from positions to cells.
#include "kernels/declarations.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace fasthdmr::FASTHDMR_ISA {

void take(const std::int32_t* table, const std::int32_t* ranks, index rows, std::int32_t* out) {
    for (index r = 0; r < rows; ++r) out[r] = table[ranks[r]];
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
