// Random numbers that are the same on every platform. The distributions of the standard library are not.
#pragma once

#include <cstdint>
#include <random>

#include "support/arrays.hpp"

namespace fasthdmr {

class Random {
public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}

    std::uint64_t bits() { return engine_(); }
    index below(index n) { return index(engine_() % std::uint64_t(n)); }
    double uniform(double low = 0.0, double high = 1.0) {
        return low + (high - low) * double(engine_() >> 11) * 0x1p-53;
    }
    bool happens(double probability) { return uniform() < probability; }
    template <class T>
    const T& one_of(const std::vector<T>& values) {
        return values[below(index(values.size()))];
    }

private:
    std::mt19937_64 engine_;
};

}  // namespace fasthdmr
