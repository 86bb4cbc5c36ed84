// Evaluation of pairs of paths on 16-bit codes. As for shallow trees, a register holds the codes of many rows, and a
// permutation of registers fetches the values. A path needs three comparisons instead of the seven of a tree, and two
// paths share one fetch.
#include "kernels/declarations.hpp"
#include "kernels/tiles.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

// With every instruction set the same numbers are added to a row in the same order, so results are bit-identical.
namespace fasthdmr::FASTHDMR_ISA {

namespace {

#if defined(__AVX512BW__)

// The number of the value that a pair of paths adds to each row, in 16 bits.
inline __m512i value_numbers(const CodedPaths& pair, const std::int16_t* codes, index ld) {
    const auto passes = [&](int m, __mmask32 here) {
        return _mm512_mask_cmpgt_epi16_mask(here, _mm512_load_si512(codes + pair.variable[m] * ld),
                                            _mm512_set1_epi32(pair.code[m]));
    };
    const __mmask32 a = passes(1, passes(0, ~__mmask32(0))), b = passes(4, passes(3, ~__mmask32(0)));
    const __m512i one = _mm512_set1_epi16(1), three = _mm512_set1_epi16(3);
    __m512i number = _mm512_maskz_mov_epi16(a, three);
    number = _mm512_mask_add_epi16(number, passes(2, a), number, three);
    number = _mm512_mask_add_epi16(number, b, number, one);
    return _mm512_mask_add_epi16(number, passes(5, b), number, one);
}

inline void add_pairs(const CodedPaths* pairs, index n_pairs, const std::int16_t* codes, index ld, double* out) {
    __m512d sum[8];
    for (int k = 0; k < 8; ++k) sum[k] = _mm512_loadu_pd(out + 8 * k);
    for (index p = 0; p < n_pairs; ++p) {
        const __m512d low = _mm512_load_pd(pairs[p].value), high = _mm512_set1_pd(pairs[p].value[8]);
        for (int half = 0; half < 2; ++half) {
            const __m512i number = value_numbers(pairs[p], codes + 32 * half, ld);
            __m512d* to = sum + 4 * half;
            // The permutation reads the lowest four bits of every 64: shifts move the next 16-bit number there.
            to[0] = _mm512_add_pd(to[0], _mm512_permutex2var_pd(low, number, high));
            to[1] = _mm512_add_pd(to[1], _mm512_permutex2var_pd(low, _mm512_srli_epi64(number, 16), high));
            to[2] = _mm512_add_pd(to[2], _mm512_permutex2var_pd(low, _mm512_srli_epi64(number, 32), high));
            to[3] = _mm512_add_pd(to[3], _mm512_permutex2var_pd(low, _mm512_srli_epi64(number, 48), high));
        }
    }
    for (int k = 0; k < 8; ++k) _mm512_storeu_pd(out + 8 * k, sum[k]);
}

#elif defined(__AVX2__)

// Sorts halves of doubles, which a shuffle has left in the order 0 1 4 5 2 3 6 7.
inline __m256 in_order(__m256 halves) {
    return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(halves), 0xd8));
}

// The number, minus 1, of the value that a pair of paths adds to each row, in 16 bits.
inline __m256i value_numbers(const CodedPaths& pair, const std::int16_t* codes, index ld) {
    const auto passes = [&](int m) {
        const auto* code = reinterpret_cast<const __m256i*>(codes + pair.variable[m] * ld);
        return _mm256_cmpgt_epi16(_mm256_load_si256(code), _mm256_set1_epi32(pair.code[m]));
    };
    // True is -1, so sums are negative.
    const auto choice = [&](int m) {
        const __m256i reached = _mm256_and_si256(passes(m), passes(m + 1));
        return _mm256_add_epi16(reached, _mm256_and_si256(reached, passes(m + 2)));
    };
    const __m256i i = choice(0), j = choice(3);
    const __m256i negative = _mm256_add_epi16(_mm256_add_epi16(i, _mm256_add_epi16(i, i)), j);
    return _mm256_xor_si256(negative, _mm256_set1_epi16(-1));
}

// The permutation chooses among eight values; the ninth number, -1, stands for the value 0.
inline void add_pairs(const CodedPaths* pairs, index n_pairs, const std::int16_t* codes, index ld, double* out) {
    const auto fetch = [](__m256 from, __m256i number) {
        const __m256i nothing = _mm256_srai_epi32(number, 31);
        return _mm256_andnot_ps(_mm256_castsi256_ps(nothing), _mm256_permutevar8x32_ps(from, number));
    };
    for (int quarter = 0; quarter < 4; ++quarter, codes += 16, out += 16) {
        __m256d sum[4];
        for (int k = 0; k < 4; ++k) sum[k] = _mm256_loadu_pd(out + 4 * k);
        for (index p = 0; p < n_pairs; ++p) {
            const float* halves = reinterpret_cast<const float*>(pairs[p].value + 1);
            const __m256 a = _mm256_loadu_ps(halves), b = _mm256_loadu_ps(halves + 8);
            const __m256 low = in_order(_mm256_shuffle_ps(a, b, 0x88)), high = in_order(_mm256_shuffle_ps(a, b, 0xdd));
            const __m256i numbers = value_numbers(pairs[p], codes, ld);
            for (int k = 0; k < 2; ++k) {
                const __m256i number = k ? numbers : _mm256_slli_epi32(numbers, 16);
                const __m256i last = _mm256_srai_epi32(number, 16);
                const __m256 l = fetch(low, last), h = fetch(high, last);
                sum[2 * k] = _mm256_add_pd(sum[2 * k], _mm256_castps_pd(_mm256_unpacklo_ps(l, h)));
                sum[2 * k + 1] = _mm256_add_pd(sum[2 * k + 1], _mm256_castps_pd(_mm256_unpackhi_ps(l, h)));
            }
        }
        for (int k = 0; k < 4; ++k) _mm256_storeu_pd(out + 4 * k, sum[k]);
    }
}

#else

inline void add_pairs(const CodedPaths* pairs, index n_pairs, const std::int16_t* codes, index ld, double* out) {
    for (index p = 0; p < n_pairs; ++p) {
        const CodedPaths& pair = pairs[p];
        const std::int16_t* x[6];
        std::int16_t code[6], number[kTile];
        for (int m = 0; m < 6; ++m) {
            x[m] = codes + pair.variable[m] * ld;
            code[m] = std::int16_t(pair.code[m]);
        }
        const auto passes = [&](int m, index r) { return std::int16_t(x[m][r] > code[m]); };
        const auto choice = [&](int m, index r) {
            return std::int16_t((passes(m, r) & passes(m + 1, r)) << passes(m + 2, r));
        };
        for (index r = 0; r < kTile; ++r) number[r] = std::int16_t(3 * choice(0, r) + choice(3, r));
        for (index r = 0; r < kTile; ++r) out[r] += pair.value[number[r]];
    }
}

#endif

}  // namespace

void add_paths(const CodedPaths* paths, index n_paths, const std::int16_t* codes, index ld, index rows, double* out) {
    for_each_tile(rows, out, [=](index r, double* sums) { add_pairs(paths, n_paths, codes + r, ld, sums); });
}

}  // namespace fasthdmr::FASTHDMR_ISA
