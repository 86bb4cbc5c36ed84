#include "loaders/packed_numbers.hpp"

#include <cstdint>
#include <cstring>

namespace fasthdmr {

index bytes_of(char type) {
    switch (type) {
        case 'i':
        case 'U':
            return 1;
        case 'I':
            return 2;
        case 'l':
        case 'd':
            return 4;
        case 'L':
        case 'D':
            return 8;
        default:
            return 0;
    }
}

namespace {

// Numbers of UBJSON are big-endian.
template <class Number, class Bits>
void decode_as(const char* p, index count, double* out) {
    static_assert(sizeof(Number) == sizeof(Bits));
    for (index k = 0; k < count; ++k, p += sizeof(Bits)) {
        Bits bits = 0;
        for (std::size_t byte = 0; byte < sizeof bits; ++byte)
            bits = Bits(bits | Bits(Bits(std::uint8_t(p[byte])) << (8 * (sizeof bits - 1 - byte))));
        Number number;
        std::memcpy(&number, &bits, sizeof number);
        out[k] = double(number);
    }
}

}  // namespace

void decode(char type, const char* p, index count, double* out) {
    switch (type) {
        case 'i':
            return decode_as<std::int8_t, std::uint8_t>(p, count, out);
        case 'U':
            return decode_as<std::uint8_t, std::uint8_t>(p, count, out);
        case 'I':
            return decode_as<std::int16_t, std::uint16_t>(p, count, out);
        case 'l':
            return decode_as<std::int32_t, std::uint32_t>(p, count, out);
        case 'd':
            return decode_as<float, std::uint32_t>(p, count, out);
        case 'L':
            return decode_as<std::int64_t, std::uint64_t>(p, count, out);
        case 'D':
            return decode_as<double, std::uint64_t>(p, count, out);
        default:
            std::memcpy(out, p, std::size_t(count) * sizeof *out);
    }
}

}  // namespace fasthdmr
