// Numbers read from the bytes of a fuzzer, with the interface of `Random`. After the last byte all numbers are zero.
#pragma once

#include <cstdint>
#include <vector>

#include "support/arrays.hpp"

namespace fasthdmr {

class Bytes {
public:
    Bytes(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}

    index below(index n) {
        std::uint64_t value = 0;
        for (index reach = 1; reach < n; reach *= 256) value = value << 8 | next();
        return index(value % std::uint64_t(n));
    }
    double uniform(double low = 0.0, double high = 1.0) { return low + (high - low) * double(below(65536)) / 65536.0; }
    bool happens(double probability) { return below(256) < index(256.0 * probability); }
    template <class T>
    const T& one_of(const std::vector<T>& values) {
        return values[below(index(values.size()))];
    }

private:
    std::uint8_t next() {
        if (left_ == 0) return 0;
        --left_;
        return *data_++;
    }

    const std::uint8_t* data_;
    std::size_t left_;
};

}  // namespace fasthdmr
