// Runs all tests of the core, with the reference LAPACK. With --digests, prints a digest of the results of each.
#include <cstring>

#include "harness.hpp"
#include "kernels/kernels.hpp"
#include "reference_lapack.hpp"

int main(int argc, char** argv) {
    std::setvbuf(stdout, nullptr, _IONBF, 0);  // unbuffered: if a sanitizer aborts, earlier output must not be lost
    fasthdmr::set_lapack(fasthdmr::reference_lapack());
    std::printf("kernels: %s\n", fasthdmr::kernels().name);
    return harness::run_all(argc > 1 && std::strcmp(argv[1], "--digests") == 0);
}
