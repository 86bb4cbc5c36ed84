// Traversal of deep trees by gathers: several rows descend at the same time, so that their cache misses overlap.
#include <cstring>

#include "kernels/compiler.hpp"
#include "kernels/declarations.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace fasthdmr::FASTHDMR_ISA {

namespace {

// Each lane holds a row, and a mask marks the lanes in use. The other lanes stay at the root: a masked gather gives
// zeros. The mask must not be a compile-time constant. If it were, the compiler would not clear the target register,
// and the gather would have to wait for the register's previous value.
#if defined(__AVX512F__)

using Lanes = __m512i;
using Mask = __mmask16;

inline Lanes lane_numbers() { return _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0); }
inline Mask first_lanes(index rows) {
    return _mm512_cmpgt_epi32_mask(_mm512_set1_epi32(std::int32_t(rows)), lane_numbers());
}
inline Lanes gather(Mask used, const void* from, Lanes offset) {
    return _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), used, offset, from, 4);
}
inline bool differ(Lanes a, Lanes b) { return _mm512_cmpneq_epi32_mask(a, b); }

#elif defined(__AVX2__)

using Lanes = __m256i;
using Mask = __m256i;

inline Lanes lane_numbers() { return _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0); }
inline Mask first_lanes(index rows) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(std::int32_t(rows)), lane_numbers());
}
inline Lanes gather(Mask used, const void* from, Lanes offset) {
    return _mm256_mask_i32gather_epi32(_mm256_setzero_si256(), static_cast<const int*>(from), offset, used, 4);
}
inline bool differ(Lanes a, Lanes b) {
    const Lanes bits = _mm256_xor_si256(a, b);
    return !_mm256_testz_si256(bits, bits);
}

#else

using Lanes = std::int32_t;
using Mask = bool;

inline Mask first_lanes(index) { return true; }
inline bool differ(Lanes a, Lanes b) { return a != b; }

#endif

constexpr index kLanes = sizeof(Lanes) / 4;  // of 32 bits

struct Traversal {
    const Node* tree;
    const std::uint8_t* missing_left;
    const float* x;
    std::int32_t ld;
    Mask used;
};

// The next node of a row whose value is missing. A leaf is its own successor.
inline std::int32_t step_missing(const Traversal& t, std::int32_t at) {
    const std::int32_t left = t.tree[at].left;
    return left == at ? at : left + !t.missing_left[at];
}

#if defined(__AVX2__)

// The same for the lanes whose bits are set in `missing`. Vectors are passed by value, so that they stay in registers.
FASTHDMR_NOINLINE Lanes step_missing(const Traversal& t, unsigned missing, Lanes at, Lanes next) {
    std::int32_t from[kLanes], to[kLanes];
    std::memcpy(from, &at, sizeof at);
    std::memcpy(to, &next, sizeof next);
    for (int lane = 0; missing; ++lane, missing >>= 1)
        if (missing & 1) to[lane] = step_missing(t, from[lane]);
    std::memcpy(&next, to, sizeof next);
    return next;
}

#endif

// Moves the rows [row, row + kLanes) down one level.
#if defined(__AVX512F__)

inline Lanes step_lanes(const Traversal& t, index row, Lanes at) {
    const Lanes word = _mm512_add_epi32(at, _mm512_add_epi32(at, at));  // a node has three words
    const Lanes column = _mm512_mullo_epi32(gather(t.used, &t.tree->feature, word), _mm512_set1_epi32(t.ld));
    const __m512 x = _mm512_castsi512_ps(gather(t.used, t.x + row, _mm512_add_epi32(column, lane_numbers())));
    const __m512 threshold = _mm512_castsi512_ps(gather(t.used, &t.tree->threshold, word));
    const Lanes left = gather(t.used, &t.tree->left, word);
    const Mask right = _mm512_cmp_ps_mask(x, threshold, _CMP_GT_OQ), missing = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    const Lanes next = _mm512_mask_add_epi32(left, right, left, _mm512_set1_epi32(1));
    return missing ? step_missing(t, missing, at, next) : next;
}

#elif defined(__AVX2__)

inline Lanes step_lanes(const Traversal& t, index row, Lanes at) {
    const Lanes word = _mm256_add_epi32(at, _mm256_add_epi32(at, at));  // a node has three words
    const Lanes column = _mm256_mullo_epi32(gather(t.used, &t.tree->feature, word), _mm256_set1_epi32(t.ld));
    const __m256 x = _mm256_castsi256_ps(gather(t.used, t.x + row, _mm256_add_epi32(column, lane_numbers())));
    const __m256 threshold = _mm256_castsi256_ps(gather(t.used, &t.tree->threshold, word));
    const Lanes left = gather(t.used, &t.tree->left, word);
    const Lanes right = _mm256_castps_si256(_mm256_cmp_ps(x, threshold, _CMP_GT_OQ));
    const Lanes next = _mm256_sub_epi32(left, right);  // true is -1
    const int missing = _mm256_movemask_ps(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    return missing ? step_missing(t, unsigned(missing), at, next) : next;
}

#else

inline Lanes step_lanes(const Traversal& t, index row, Lanes at) {
    const Node& node = t.tree[at];
    const float x = t.x[index(node.feature) * t.ld + row];
    return x != x ? step_missing(t, at) : node.left + (x > node.threshold);
}

#endif

// Several vectors of rows descend at the same time, so that their cache misses overlap. A row at a leaf stays there.
template <index Vectors>
inline void find_leaves_from(index row, const Traversal& t, int depth, index rows, std::int32_t* leaf) {
    Lanes at[Vectors] = {};
    bool moved = true;
    for (int level = 0; level < depth && moved; ++level) {
        moved = false;
        for (index v = 0; v < Vectors; ++v) {
            const Lanes before = at[v];
            at[v] = step_lanes(t, row + v * kLanes, before);
            moved |= differ(at[v], before);
        }
    }
    const index n = rows - row < Vectors * kLanes ? rows - row : Vectors * kLanes;
    std::memcpy(leaf + row, at, n * sizeof *leaf);
}

// Descends with so many vectors of rows at a time, and with the rest of the rows in vectors of half as many.
template <index Vectors>
void find_leaves_by(index row, Traversal t, int depth, index rows, std::int32_t* leaf) {
    for (constexpr index together = Vectors * kLanes; row + together <= rows; row += together)
        find_leaves_from<Vectors>(row, t, depth, rows, leaf);
    if constexpr (Vectors > 1) return find_leaves_by<Vectors / 2>(row, t, depth, rows, leaf);
    if (row == rows) return;
    t.used = first_lanes(rows - row);
    find_leaves_from<1>(row, t, depth, rows, leaf);
}

}  // namespace

void find_leaves(const Node* tree, const std::uint8_t* missing_left, int depth, const float* x, index ld, index rows,
                 std::int32_t* leaf) {
    constexpr index vectors = kLanes > 1 ? 4 : 16;
    find_leaves_by<vectors>(0, {tree, missing_left, x, std::int32_t(ld), first_lanes(rows)}, depth, rows, leaf);
}

}  // namespace fasthdmr::FASTHDMR_ISA
