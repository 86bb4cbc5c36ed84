// Ranks of many values among sorted thresholds with AVX-512: a binary search of 64 values at a time. The first five
// levels of the search tree have at most 16 thresholds each, so that a level fits into a register and a permutation of
// the register replaces a gather from memory. Without these levels, predictions of ensembles of stumps take 1.4 times
// as long.
#pragma once

#include <immintrin.h>

#include "kernels/records.hpp"

namespace fasthdmr::FASTHDMR_ISA {

class VectorSearch {
    static constexpr int kVectors = 4;  // at a time, so that their gathers overlap

public:
    static constexpr index kGroup = 16 * kVectors;

    VectorSearch(const float* thresholds, std::int32_t n) : thresholds_(thresholds), n_(n), left_(n) {
        std::int32_t start[1 << kMostLevels] = {};
        for (; levels_ < kMostLevels && left_ > 0; ++levels_) {
            const std::int32_t half = half_[levels_] = (left_ + 1) / 2;
            alignas(64) float values[16] = {};
            for (int path = (1 << levels_) - 1; path >= 0; --path) {
                values[path] = thresholds[start[path] + half - 1];
                start[2 * path + 1] = start[path] + half;
                start[2 * path] = start[path];
            }
            level_[levels_] = _mm512_load_ps(values);
            left_ -= half;
        }
    }

    // Computes the ranks of whole groups of kGroup values, and returns how many values these are.
    index rank(const float* x, index rows, std::int32_t* ranks) const {
        index r = 0;
        for (; r + kGroup <= rows; r += kGroup) rank_group(x + r, ranks + r);
        return r;
    }

private:
    static constexpr int kMostLevels = 5;

    void rank_group(const float* x, std::int32_t* ranks) const {
        __m512 value[kVectors];
        __m512i found[kVectors];  // thresholds below the value, among those compared so far
        for (int k = 0; k < kVectors; ++k) value[k] = _mm512_loadu_ps(x + 16 * k);
        search_registers(value, found);
        search_memory(value, found);
        for (int k = 0; k < kVectors; ++k) {
            const __mmask16 missing = _mm512_cmp_ps_mask(value[k], value[k], _CMP_UNORD_Q);
            _mm512_storeu_si512(ranks + 16 * k, _mm512_mask_mov_epi32(found[k], missing, _mm512_set1_epi32(n_ + 1)));
        }
    }

    void search_registers(const __m512 (&value)[kVectors], __m512i (&found)[kVectors]) const {
        __m512i path[kVectors];  // the outcomes so far, as a binary number
        for (int k = 0; k < kVectors; ++k) found[k] = path[k] = _mm512_setzero_si512();
        for (int level = 0; level < levels_; ++level) {
            const __m512i half = _mm512_set1_epi32(half_[level]);
            for (int k = 0; k < kVectors; ++k) {
                const __m512 probe = _mm512_permutexvar_ps(path[k], level_[level]);
                const __mmask16 above = _mm512_cmp_ps_mask(probe, value[k], _CMP_LT_OQ);
                found[k] = _mm512_mask_add_epi32(found[k], above, found[k], half);
                path[k] = _mm512_add_epi32(path[k], path[k]);
                path[k] = _mm512_mask_or_epi32(path[k], above, path[k], _mm512_set1_epi32(1));
            }
        }
    }

    void search_memory(const __m512 (&value)[kVectors], __m512i (&found)[kVectors]) const {
        for (std::int32_t left = left_; left > 0;) {
            const std::int32_t half = (left + 1) / 2;
            for (int k = 0; k < kVectors; ++k) {
                const __m512 probe = _mm512_i32gather_ps(found[k], thresholds_ + half - 1, 4);
                const __mmask16 above = _mm512_cmp_ps_mask(probe, value[k], _CMP_LT_OQ);
                found[k] = _mm512_mask_add_epi32(found[k], above, found[k], _mm512_set1_epi32(half));
            }
            left -= half;
        }
    }

    const float* thresholds_;
    std::int32_t n_;
    std::int32_t left_;  // thresholds that remain for the search in memory
    int levels_ = 0;
    std::int32_t half_[kMostLevels];
    __m512 level_[kMostLevels];  // the thresholds of a level, by the path that leads to them
};

}  // namespace fasthdmr::FASTHDMR_ISA
