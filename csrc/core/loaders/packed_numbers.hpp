// Packed numbers of a document: consecutive numbers of one type, which are decoded when they are read.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "kernels/records.hpp"

namespace fasthdmr {

constexpr char kDoubles = 'J';  // marks float64 numbers parsed from JSON; all other types are those of UBJSON

// The number of bytes of a number of a UBJSON type; 0 for types that are not numeric.
inline index bytes_of(char type) {
    static constexpr auto sizes = [] {
        std::array<std::uint8_t, 256> result{};
        result['i'] = result['U'] = 1;
        result['I'] = 2;
        result['l'] = result['d'] = 4;
        result['L'] = result['D'] = 8;
        return result;
    }();
    return sizes[std::uint8_t(type)];
}
inline index bytes_of_packed(char type) { return type == kDoubles ? index(sizeof(double)) : bytes_of(type); }

// The number stored at p. Numbers of UBJSON are big-endian. One expression: compilers turn it into a single load, and a
// loop over the bytes they do not.
template <class Bits, std::size_t... byte>
Bits big_endian(const char* p, std::index_sequence<byte...>) {
    return Bits((... | Bits(Bits(std::uint8_t(p[byte])) << (8 * (sizeof(Bits) - 1 - byte)))));
}
template <class Bits>
Bits big_endian(const char* p) {
    return big_endian<Bits>(p, std::make_index_sequence<sizeof(Bits)>());
}

// Decodes `count` numbers from p.
void decode(char type, const char* p, index count, double* out);
// Decodes numbers of an integer type; returns false for all other types.
bool decode(char type, const char* p, index count, std::int64_t* out);

}  // namespace fasthdmr
