// Compiler extensions, each with a fallback in standard C++. No other file of the core uses one. Kernel files may
// include this header: its functions are in the namespace FASTHDMR_ISA, or are always inlined.
#pragma once

#include <cstddef>

#if defined(__GNUC__)  // GCC and Clang
#define FASTHDMR_NOINLINE __attribute__((noinline))
#define FASTHDMR_ALWAYS_INLINE __attribute__((always_inline)) inline
#define FASTHDMR_PREFETCH(address, level) __builtin_prefetch(address, 0, 4 - (level))  // for reading, to level 1 or 2
#define FASTHDMR_CPU_SUPPORTS(feature) bool(__builtin_cpu_supports(feature))
#else
#define FASTHDMR_NOINLINE
#define FASTHDMR_ALWAYS_INLINE inline
#define FASTHDMR_PREFETCH(address, level) (void)(address)
#define FASTHDMR_CPU_SUPPORTS(feature) false
#endif

// A keyword of GCC, Clang and MSVC; standard C++ has none.
#define FASTHDMR_RESTRICT __restrict

#if defined(__GNUC__) && !defined(__clang__)
#define FASTHDMR_UNROLL _Pragma("GCC unroll 8")
#elif defined(__clang__)
#define FASTHDMR_UNROLL _Pragma("clang loop unroll_count(8)")
#else
#define FASTHDMR_UNROLL
#endif

// Shuffles of vectors: Clang, and GCC from 12 on.
#define FASTHDMR_HAS_SHUFFLE 0
#if defined(__GNUC__) && defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#undef FASTHDMR_HAS_SHUFFLE
#define FASTHDMR_HAS_SHUFFLE 1
#endif
#endif

// Keeps a value in a register: otherwise GCC loads it again for each use, and loads limit the rate.
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
#define FASTHDMR_KEEP(value) asm("" : "+x"(value))
#else
#define FASTHDMR_KEEP(value) (void)(value)
#endif

// A thread-local variable in the static block of each thread, which exists before the thread runs.
#if defined(__GNUC__) && defined(__ELF__)
#define FASTHDMR_STATIC_TLS __attribute__((tls_model("initial-exec")))
#else
#define FASTHDMR_STATIC_TLS
#endif

namespace fasthdmr {

// Prefetches all cache lines of an array. GCC would remove calls of a function that only prefetches.
FASTHDMR_ALWAYS_INLINE void prefetch(const void* data, std::ptrdiff_t bytes) {
    constexpr std::ptrdiff_t line = 64;
    for (std::ptrdiff_t k = 0; k < bytes; k += line) FASTHDMR_PREFETCH(static_cast<const char*>(data) + k, 2);
}

}  // namespace fasthdmr

#if defined(FASTHDMR_ISA)
namespace fasthdmr::FASTHDMR_ISA {

// A vector register of doubles. Compilers do not always vectorise loops over four numbers, so it is explicit.
#if defined(__GNUC__)
template <int Lanes>
struct Vector {
    typedef double Type __attribute__((vector_size(8 * Lanes), aligned(8), may_alias));
    Type lanes;

    static Vector load(const double* from) { return {*reinterpret_cast<const Type*>(from)}; }
    void add_to(double* out) const { *reinterpret_cast<Type*>(out) += lanes; }
    void store(double* to) const { *reinterpret_cast<Type*>(to) = lanes; }
    friend Vector operator*(double factor, const Vector& v) { return {factor * v.lanes}; }
    friend Vector operator*(const Vector& a, const Vector& b) { return {a.lanes * b.lanes}; }
    friend Vector operator+(const Vector& a, const Vector& b) { return {a.lanes + b.lanes}; }
};
#else
template <int Lanes>
struct Vector {
    double lanes[Lanes];

    static Vector load(const double* from) {
        Vector result;
        for (int k = 0; k < Lanes; ++k) result.lanes[k] = from[k];
        return result;
    }
    void add_to(double* out) const {
        for (int k = 0; k < Lanes; ++k) out[k] += lanes[k];
    }
    void store(double* to) const {
        for (int k = 0; k < Lanes; ++k) to[k] = lanes[k];
    }
    friend Vector operator*(double factor, const Vector& v) {
        Vector result;
        for (int k = 0; k < Lanes; ++k) result.lanes[k] = factor * v.lanes[k];
        return result;
    }
    friend Vector operator*(const Vector& a, const Vector& b) {
        Vector result;
        for (int k = 0; k < Lanes; ++k) result.lanes[k] = a.lanes[k] * b.lanes[k];
        return result;
    }
    friend Vector operator+(const Vector& a, const Vector& b) {
        Vector result;
        for (int k = 0; k < Lanes; ++k) result.lanes[k] = a.lanes[k] + b.lanes[k];
        return result;
    }
};
#endif

// Number of doubles in a vector register for sums in registers. A core of Zen 4 forms 28 products a nanosecond with
// registers of four, and 20 with registers of eight, because it has no fused multiplication and addition here: that would
// change the bits.
#if defined(__AVX__)
constexpr int kSumLanes = 4;
#else
constexpr int kSumLanes = 2;
#endif

// Adds to out[i] the sum over the lanes of the i-th of four vectors of four numbers, (0 + 1) + (2 + 3).
template <int Lanes, int Parts>
inline void add_sums_over_lanes(const Vector<Lanes> (&vectors)[4][Parts], double* out) {
    static_assert(Lanes * Parts == 4, "vectors of four numbers");
    double lanes[4][4];
    for (int i = 0; i < 4; ++i)
        for (int v = 0; v < Parts; ++v) vectors[i][v].store(lanes[i] + v * Lanes);
    for (int i = 0; i < 4; ++i) out[i] += (lanes[i][0] + lanes[i][1]) + (lanes[i][2] + lanes[i][3]);
}

#if FASTHDMR_HAS_SHUFFLE && defined(__AVX__)
// The same without memory: the four vectors are transposed in registers.
inline void add_sums_over_lanes(const Vector<4> (&vectors)[4][1], double* out) {
    const auto a = vectors[0][0].lanes, b = vectors[1][0].lanes, c = vectors[2][0].lanes, d = vectors[3][0].lanes;
    const auto ab = __builtin_shufflevector(a, b, 0, 4, 2, 6) + __builtin_shufflevector(a, b, 1, 5, 3, 7);
    const auto cd = __builtin_shufflevector(c, d, 0, 4, 2, 6) + __builtin_shufflevector(c, d, 1, 5, 3, 7);
    const auto sums = __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
    Vector<4>{sums}.add_to(out);
}
#endif

}  // namespace fasthdmr::FASTHDMR_ISA
#endif
