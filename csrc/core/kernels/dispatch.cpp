// Chooses the kernels of the best instruction set that the CPU supports.
#include <cstdlib>
#include <cstring>

#include "kernels/compiler.hpp"
#include "kernels/kernels.hpp"

namespace fasthdmr {

extern const Kernels kernels_baseline;
#ifdef FASTHDMR_X86
extern const Kernels kernels_avx2;
extern const Kernels kernels_avx512;
#endif

namespace {

const Kernels& choose() {
#ifdef FASTHDMR_X86
    const bool avx2 = FASTHDMR_CPU_SUPPORTS("avx2");
    const bool avx512 = avx2 && FASTHDMR_CPU_SUPPORTS("avx512f") && FASTHDMR_CPU_SUPPORTS("avx512dq") &&
                        FASTHDMR_CPU_SUPPORTS("avx512bw") && FASTHDMR_CPU_SUPPORTS("avx512vl");
    const Kernels* best = avx512 ? &kernels_avx512 : avx2 ? &kernels_avx2 : &kernels_baseline;
    if (const char* requested = std::getenv("FASTHDMR_CPU")) {
        if (!std::strcmp(requested, "baseline")) best = &kernels_baseline;
        if (!std::strcmp(requested, "avx2") && avx2) best = &kernels_avx2;
    }
    return *best;
#else
    return kernels_baseline;
#endif
}

}  // namespace

const Kernels& kernels() {
    static const Kernels& chosen = choose();
    return chosen;
}

}  // namespace fasthdmr
