// The floating-point number next to another one.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace fasthdmr {

// The next number above (direction 1) or below (-1) a number that has one, as std::nextafter gives it, but inline:
// readers and forests round the thresholds of all nodes.
template <class Number>
Number neighbour(Number number, int direction) {
    using Bits = std::conditional_t<sizeof(Number) == sizeof(std::uint32_t), std::uint32_t, std::uint64_t>;
    static_assert(sizeof(Bits) == sizeof(Number));
    if (number == 0) return Number(direction) * std::numeric_limits<Number>::denorm_min();
    Bits bits;
    std::memcpy(&bits, &number, sizeof bits);
    bits += (number > 0) == (direction > 0) ? Bits(1) : Bits(-1);
    std::memcpy(&number, &bits, sizeof number);
    return number;
}

}  // namespace fasthdmr
