// Runs a fuzz target without libFuzzer, on given files or on random bytes, for a number of seconds or of runs. A
// failing input is written to a file, which can be passed to reproduce the failure.
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::vector<std::uint8_t> input;

void keep_input(int) {
    std::ofstream("fuzz-failure.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(input.data()), std::streamsize(input.size()));
    std::fprintf(stderr, "the input is in fuzz-failure.bin\n");
    std::signal(SIGABRT, SIG_DFL);
}

int replay(const char* path) {
    std::ifstream file(path, std::ios::binary);
    input.assign(std::istreambuf_iterator<char>(file), {});
    return LLVMFuzzerTestOneInput(input.data(), input.size());
}

}  // namespace

int main(int argc, char** argv) {
    std::signal(SIGABRT, keep_input);
    double seconds = 0.0;
    std::uint64_t runs = 0, seed = 1, done = 0;
    for (int k = 1; k < argc; k += 2) {
        const std::string option = argv[k];
        if (option.rfind("--", 0) != 0) {
            replay(argv[k--]);
            continue;
        }
        if (k + 1 == argc) return std::printf("%s needs a number\n", argv[k]), 2;
        if (option == "--seconds") seconds = std::atof(argv[k + 1]);
        else if (option == "--runs") runs = std::strtoull(argv[k + 1], nullptr, 10);
        else if (option == "--seed") seed = std::strtoull(argv[k + 1], nullptr, 10);
        else return std::printf("fuzz_forest [FILE ...] [--seconds S] [--runs N] [--seed K]\n"), 2;
    }
    const auto start = std::chrono::steady_clock::now();
    const auto elapsed = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    for (std::mt19937_64 random(seed); done < runs || elapsed() < seconds; ++done) {
        input.resize(random() % 4096);
        for (std::uint8_t& byte : input) byte = std::uint8_t(random());
        LLVMFuzzerTestOneInput(input.data(), input.size());
    }
    std::printf("%llu random inputs\n", static_cast<unsigned long long>(done));
    return 0;
}
