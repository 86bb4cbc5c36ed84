// Evaluation of trees of depth <= 3 on 16-bit codes: a register holds the codes of many rows, and a permutation of
// registers fetches the leaf values.
#include "kernels/declarations.hpp"
#include "kernels/tiles.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

// With every instruction set the same numbers are added to a row in the same order, so results are bit-identical.
namespace fasthdmr::FASTHDMR_ISA {

namespace {

#if defined(__AVX512BW__)

// The leaf number of each row, in 16 bits. A node is compared only for the rows that reach it.
template <int Depth>
inline __m512i leaf_numbers(const CodedTree& tree, const std::int16_t* codes, index ld) {
    const auto right = [&](int m, __mmask32 here) {
        return _mm512_mask_cmpgt_epi16_mask(here, _mm512_load_si512(codes + tree.variable[m] * ld),
                                            _mm512_set1_epi32(tree.code[m]));
    };
    const __mmask32 c0 = right(0, ~__mmask32(0));
    __m512i leaf = _mm512_maskz_set1_epi16(c0, 4);
    if constexpr (Depth > 1) {
        const __mmask32 n0 = _knot_mask32(c0), left1 = right(1, n0), right1 = right(2, c0);
        leaf = _mm512_mask_add_epi16(leaf, _kor_mask32(left1, right1), leaf, _mm512_set1_epi16(2));
        if constexpr (Depth > 2) {
            const __mmask32 low = _kor_mask32(right(3, _kandn_mask32(left1, n0)), right(4, left1));
            const __mmask32 high = _kor_mask32(right(5, _kandn_mask32(right1, c0)), right(6, right1));
            leaf = _mm512_mask_add_epi16(leaf, _kor_mask32(low, high), leaf, _mm512_set1_epi16(1));
        }
    }
    return leaf;
}

template <int Depth, int Halves>
inline void add_halves(const CodedTree* trees, index n_trees, const std::int16_t* codes, index ld, double* out) {
    __m512d sum[4 * Halves];
    for (int k = 0; k < 4 * Halves; ++k) sum[k] = _mm512_loadu_pd(out + 8 * k);
    for (index t = 0; t < n_trees; ++t) {
        const __m512d leaves = _mm512_load_pd(trees[t].leaf);
        for (int half = 0; half < Halves; ++half) {
            const __m512i leaf = leaf_numbers<Depth>(trees[t], codes + 32 * half, ld);
            // The permutation reads the lowest three bits of every 64: shifts move the next 16-bit number there.
            sum[4 * half] = _mm512_add_pd(sum[4 * half], _mm512_permutexvar_pd(leaf, leaves));
            sum[4 * half + 1] =
                _mm512_add_pd(sum[4 * half + 1], _mm512_permutexvar_pd(_mm512_srli_epi64(leaf, 16), leaves));
            sum[4 * half + 2] =
                _mm512_add_pd(sum[4 * half + 2], _mm512_permutexvar_pd(_mm512_srli_epi64(leaf, 32), leaves));
            sum[4 * half + 3] =
                _mm512_add_pd(sum[4 * half + 3], _mm512_permutexvar_pd(_mm512_srli_epi64(leaf, 48), leaves));
        }
    }
    for (int k = 0; k < 4 * Halves; ++k) _mm512_storeu_pd(out + 8 * k, sum[k]);
}

template <int Depth>
inline void add_tile(const CodedTree* trees, index n_trees, const std::int16_t* codes, index ld, index rows,
                     double* out) {
    if (rows > 32) return add_halves<Depth, 2>(trees, n_trees, codes, ld, out);
    add_halves<Depth, 1>(trees, n_trees, codes, ld, out);
}

#elif defined(__AVX2__)

// As above, with bits 1 and 2 of the leaf number exchanged; `add_tile` permutes the leaf values accordingly.
template <int Depth>
inline __m256i leaf_numbers(const CodedTree& tree, const std::int16_t* codes, index ld) {
    const auto right = [&](int m) {
        const auto* code = reinterpret_cast<const __m256i*>(codes + tree.variable[m] * ld);
        return _mm256_cmpgt_epi16(_mm256_load_si256(code), _mm256_set1_epi32(tree.code[m]));
    };
    const __m256i c0 = right(0);
    __m256i leaf = _mm256_and_si256(c0, _mm256_set1_epi16(2));
    if constexpr (Depth > 1) {
        const __m256i c1 = _mm256_blendv_epi8(right(1), right(2), c0);
        leaf = _mm256_or_si256(leaf, _mm256_and_si256(c1, _mm256_set1_epi16(4)));
        if constexpr (Depth > 2) {
            const __m256i low = _mm256_blendv_epi8(right(3), right(4), c1);
            const __m256i high = _mm256_blendv_epi8(right(5), right(6), c1);
            const __m256i c2 = _mm256_blendv_epi8(low, high, c0);
            leaf = _mm256_or_si256(leaf, _mm256_and_si256(c2, _mm256_set1_epi16(1)));
        }
    }
    return leaf;
}

// Doubles are fetched as two 32-bit halves, because AVX2 has a permutation of eight 32-bit lanes only.
template <int Depth>
inline void add_tile(const CodedTree* trees, index n_trees, const std::int16_t* codes, index ld, index rows,
                     double* out) {
    for (index first = 0; first < rows; first += 16, codes += 16, out += 16) {
        __m256d sum[4];
        for (int k = 0; k < 4; ++k) sum[k] = _mm256_loadu_pd(out + 4 * k);
        for (index t = 0; t < n_trees; ++t) {
            const float* halves = reinterpret_cast<const float*>(trees[t].leaf);
            const __m256 a = _mm256_load_ps(halves), b = _mm256_load_ps(halves + 8);
            const __m256 low = _mm256_shuffle_ps(a, b, 0x88), high = _mm256_shuffle_ps(a, b, 0xdd);
            const __m256i leaf = leaf_numbers<Depth>(trees[t], codes, ld);
            for (int k = 0; k < 2; ++k) {
                const __m256i word = k ? _mm256_srli_epi32(leaf, 16) : leaf;
                const __m256 l = _mm256_permutevar8x32_ps(low, word), h = _mm256_permutevar8x32_ps(high, word);
                sum[2 * k] = _mm256_add_pd(sum[2 * k], _mm256_castps_pd(_mm256_unpacklo_ps(l, h)));
                sum[2 * k + 1] = _mm256_add_pd(sum[2 * k + 1], _mm256_castps_pd(_mm256_unpackhi_ps(l, h)));
            }
        }
        for (int k = 0; k < 4; ++k) _mm256_storeu_pd(out + 4 * k, sum[k]);
    }
}

#else

// Selects by bits, without a branch.
inline std::int16_t choose(std::int16_t right, std::int16_t if_left, std::int16_t if_right) {
    return std::int16_t(if_left ^ (right & (if_left ^ if_right)));
}

// Computes all leaf numbers before any value is fetched, so that the compiler vectorises the first loop.
template <int Depth>
inline void add_tile(const CodedTree* trees, index n_trees, const std::int16_t* codes, index ld, index, double* out) {
    for (index t = 0; t < n_trees; ++t) {
        const CodedTree& tree = trees[t];
        const std::int16_t* x[7];
        std::int16_t code[7], leaf[kTile];
        for (int m = 0; m < 7; ++m) {
            x[m] = codes + tree.variable[m] * ld;
            code[m] = std::int16_t(tree.code[m]);
        }
        const auto right = [&](int m, index r) { return std::int16_t(-(x[m][r] > code[m])); };
        for (index r = 0; r < kTile; ++r) {
            const std::int16_t c0 = right(0, r);
            leaf[r] = c0 & 4;
            if constexpr (Depth > 1) {
                const std::int16_t c1 = choose(c0, right(1, r), right(2, r));
                leaf[r] |= c1 & 2;
                if constexpr (Depth > 2) {
                    const std::int16_t low = choose(c1, right(3, r), right(4, r));
                    leaf[r] |= choose(c0, low, choose(c1, right(5, r), right(6, r))) & 1;
                }
            }
        }
        for (index r = 0; r < kTile; ++r) out[r] += tree.leaf[leaf[r]];
    }
}

#endif

// One row of a single tile. The comparisons are numbers and not branches, which could not be predicted.
template <int Depth>
inline void add_row(const CodedTree* trees, index n_trees, const std::int16_t* codes, double& out) {
    double sum = out;
    for (index t = 0; t < n_trees; ++t) {
        const CodedTree& tree = trees[t];
        int m = 0;
        for (int level = 0; level < Depth; ++level)
            m = 2 * m + 1 + int(codes[tree.variable[m] * kTile] > std::int16_t(tree.code[m]));
        sum += tree.leaf[(m - (1 << Depth) + 1) << (kShallowDepth - Depth)];
    }
    out = sum;
}

// Fewer rows are evaluated one by one.
constexpr index kFewRows = 3;

template <int Depth>
void add_trees(const CodedTree* trees, index n_trees, const std::int16_t* codes, index ld, index rows, double* out) {
    if (rows < kFewRows && ld == kTile) {
        for (index r = 0; r < rows; ++r) add_row<Depth>(trees, n_trees, codes + position_in_tile(r), out[r]);
        return;
    }
    for_each_tile(rows, out, [=](index r, double* sums) {
        add_tile<Depth>(trees, n_trees, codes + r, ld, rows - r < kTile ? rows - r : kTile, sums);
    });
}

}  // namespace

void add_coded(const CodedTree* trees, index n_trees, int depth, const std::int16_t* codes, index ld, index rows,
               double* out) {
    if (depth <= 1) return add_trees<1>(trees, n_trees, codes, ld, rows, out);
    if (depth == 2) return add_trees<2>(trees, n_trees, codes, ld, rows, out);
    add_trees<3>(trees, n_trees, codes, ld, rows, out);
}

}  // namespace fasthdmr::FASTHDMR_ISA
