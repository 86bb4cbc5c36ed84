// Quantisation: columns of input as float32, and the ranks of their values among the thresholds of a variable.
#include <cstring>

#include "kernels/declarations.hpp"
#include "kernels/tiles.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>
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

// The first levels of a binary search tree of the thresholds, held in registers: a permutation replaces a gather.
struct RegisterTree {
    static constexpr int most = 5;
    int count = 0;
    std::int32_t half[most];
    std::int32_t left;   // thresholds that remain to be searched in memory
    __m512 probe[most];  // of each level, by the outcomes of the levels above as a binary number

    RegisterTree(const float* thresholds, std::int32_t n) : left(n) {
        std::int32_t start[1 << most] = {};
        for (; count < most && left > 0; ++count) {
            const std::int32_t h = half[count] = (left + 1) / 2;
            alignas(64) float values[16] = {};
            for (int path = (1 << count) - 1; path >= 0; --path) {
                values[path] = thresholds[start[path] + h - 1];
                start[2 * path + 1] = start[path] + h;
                start[2 * path] = start[path];
            }
            probe[count] = _mm512_load_ps(values);
            left -= h;
        }
    }
};

constexpr int kVectors = 4;  // at a time, so that their gathers overlap

index rank_vectors(const float* thresholds, std::int32_t n, const float* x, index rows, std::int32_t* ranks) {
    const RegisterTree tree(thresholds, n);
    const __m512i one = _mm512_set1_epi32(1), missing_rank = _mm512_set1_epi32(n + 1);
    index r = 0;
    for (; r + 16 * kVectors <= rows; r += 16 * kVectors) {
        __m512 value[kVectors];
        __m512i found[kVectors], path[kVectors];
        for (int k = 0; k < kVectors; ++k) {
            value[k] = _mm512_loadu_ps(x + r + 16 * k);
            found[k] = path[k] = _mm512_setzero_si512();
        }
        for (int step = 0; step < tree.count; ++step) {
            const __m512i half = _mm512_set1_epi32(tree.half[step]);
            for (int k = 0; k < kVectors; ++k) {
                const __m512 probe = _mm512_permutexvar_ps(path[k], tree.probe[step]);
                const __mmask16 above = _mm512_cmp_ps_mask(probe, value[k], _CMP_LT_OQ);
                found[k] = _mm512_mask_add_epi32(found[k], above, found[k], half);
                path[k] = _mm512_add_epi32(path[k], path[k]);
                path[k] = _mm512_mask_or_epi32(path[k], above, path[k], one);
            }
        }
        for (std::int32_t left = tree.left; left > 0;) {
            const std::int32_t half = (left + 1) / 2;
            for (int k = 0; k < kVectors; ++k) {
                const __m512 probe = _mm512_i32gather_ps(found[k], thresholds + half - 1, 4);
                const __mmask16 above = _mm512_cmp_ps_mask(probe, value[k], _CMP_LT_OQ);
                found[k] = _mm512_mask_add_epi32(found[k], above, found[k], _mm512_set1_epi32(half));
            }
            left -= half;
        }
        for (int k = 0; k < kVectors; ++k) {
            const __mmask16 missing = _mm512_cmp_ps_mask(value[k], value[k], _CMP_UNORD_Q);
            _mm512_storeu_si512(ranks + r + 16 * k, _mm512_mask_mov_epi32(found[k], missing, missing_rank));
        }
    }
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

// A binary search of all rows at once, without branches on the data.
void rank(const float* thresholds, std::int32_t n, const float* x, index rows, std::int32_t* ranks) {
    index first = 0;
#if defined(__AVX512F__)
    first = rank_vectors(thresholds, n, x, rows, ranks);
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
    for (index r = 0; r < rows; ++r) codes[position_in_tile(r)] = std::int16_t(ranks[r] + kLowestCode);
    for (index r = rows; r % kTile; ++r) codes[position_in_tile(r)] = 0;
}

}  // namespace fasthdmr::FASTHDMR_ISA
