#include "harness.hpp"
#include "kernels/kernels.hpp"
#include "reference_lapack.hpp"

int main() {
    std::setvbuf(stdout, nullptr, _IONBF, 0);  // a sanitizer that aborts must not swallow what was said before
    fasthdmr::set_lapack(fasthdmr::reference_lapack());
    std::printf("kernels: %s\n", fasthdmr::kernels().name);
    return harness::run_all();
}
