#include "loaders/packed_numbers.hpp"

#include <cstring>

namespace fasthdmr {

namespace {

template <class Number, class Bits, class Out>
void decode_as(const char* p, index count, Out* out) {
    static_assert(sizeof(Number) == sizeof(Bits));
    for (index k = 0; k < count; ++k, p += sizeof(Bits)) {
        const Bits bits = big_endian<Bits>(p);
        Number number;
        std::memcpy(&number, &bits, sizeof number);
        out[k] = Out(+number);  // keeps the sign of a byte
    }
}

template <class Out>
bool decode_integers(char type, const char* p, index count, Out* out) {
    if (type == 'i') decode_as<std::int8_t, std::uint8_t>(p, count, out);
    else if (type == 'U') decode_as<std::uint8_t, std::uint8_t>(p, count, out);
    else if (type == 'I') decode_as<std::int16_t, std::uint16_t>(p, count, out);
    else if (type == 'l') decode_as<std::int32_t, std::uint32_t>(p, count, out);
    else if (type == 'L') decode_as<std::int64_t, std::uint64_t>(p, count, out);
    else return false;
    return true;
}

}  // namespace

bool decode(char type, const char* p, index count, std::int64_t* out) { return decode_integers(type, p, count, out); }

void decode(char type, const char* p, index count, double* out) {
    if (decode_integers(type, p, count, out)) return;
    if (type == 'd') decode_as<float, std::uint32_t>(p, count, out);
    else if (type == 'D') decode_as<double, std::uint64_t>(p, count, out);
    else std::memcpy(out, p, std::size_t(count) * sizeof *out);
}

}  // namespace fasthdmr
