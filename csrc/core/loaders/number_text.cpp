#include "loaders/number_text.hpp"

#if !defined(FASTHDMR_HAS_FROM_CHARS)
#include <cerrno>
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>
#if defined(__APPLE__)
#include <xlocale.h>
#endif
#endif

namespace fasthdmr {

#if defined(FASTHDMR_HAS_FROM_CHARS)

std::from_chars_result parse_float(const char* first, const char* last, double& value) {
    return std::from_chars(first, last, value);
}

#else

// In the locale "C", strtod reads the same numbers, and also signs, spaces and hexadecimal digits that from_chars
// refuses. It needs a zero at the end.
std::from_chars_result parse_float(const char* first, const char* last, double& value) {
    constexpr std::string_view parts = "0123456789+-.eEinfatyINFATY";  // of numbers, "inf", "infinity" and "nan"
    static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
    const char* end = first;
    while (end != last && parts.find(*end) != std::string_view::npos) ++end;
    if (first == end || *first == '+') return {first, std::errc::invalid_argument};

    const std::string text(first, end);
    char* stop = nullptr;
    errno = 0;
    const double number = strtod_l(text.c_str(), &stop, plain);
    const char* const next = first + (stop - text.c_str());
    if (next == first) return {first, std::errc::invalid_argument};
    if (errno == ERANGE && (number == 0.0 || std::isinf(number))) return {next, std::errc::result_out_of_range};
    value = number;
    return {next, std::errc()};
}

#endif

}  // namespace fasthdmr
