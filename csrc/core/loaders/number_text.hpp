// Numbers of text formats.
#pragma once

#include <charconv>
#include <cstdint>

#include "kernels/records.hpp"

namespace fasthdmr {

// std::from_chars for float64, also where the standard library has it for integers only: that of Apple before macOS 26.
std::from_chars_result parse_float(const char* first, const char* last, double& value);

// The same as parse_float, but faster for short integers: most numbers of models are counts and positions.
inline std::from_chars_result parse_number(const char* first, const char* last, double& value) {
    constexpr index most = 15;  // digits; float64 represents such integers exactly
    const bool is_negative = first != last && *first == '-';
    const char *const digits = first + is_negative, *p = digits;
    std::int64_t integer = 0;
    for (; p != last && p - digits <= most && *p >= '0' && *p <= '9'; ++p) integer = 10 * integer + (*p - '0');
    const bool is_integer = p != digits && p - digits <= most && (p == last || (*p != '.' && *p != 'e' && *p != 'E'));
    if (!is_integer) return parse_float(first, last, value);
    value = is_negative ? -double(integer) : double(integer);
    return {p, std::errc()};
}

}  // namespace fasthdmr
