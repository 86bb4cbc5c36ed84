// A test harness: TEST registers a function. A failed CHECK is reported, and the test continues.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

namespace harness {

struct Test {
    const char* name;
    void (*run)();
};

inline std::vector<Test>& tests() {
    static std::vector<Test> all;
    return all;
}

// Failed checks of the running test.
inline int& failures() {
    static int count = 0;
    return count;
}

// A digest (FNV-1a) of the bits of all numbers that the running test has compared: equal on two platforms whose results
// are the same to the last bit.
inline std::uint64_t& digest() {
    static std::uint64_t value = 0;
    return value;
}

inline void add_to_digest(const std::vector<double>& numbers) {
    for (const double number : numbers) {
        std::uint64_t bits = 0;
        if (!std::isnan(number)) std::memcpy(&bits, &number, sizeof bits);  // processors differ in the bits of NaN
        digest() = (digest() ^ bits) * 0x100000001b3;
    }
}

struct Registration {
    Registration(const char* name, void (*run)()) { tests().push_back({name, run}); }
};

inline void fail(const char* file, int line, const std::string& what) {
    constexpr int enough = 10;  // further failures, such as those of a check in a loop, are not printed
    if (++failures() <= enough) std::printf("%s:%d: %s\n", file, line, what.c_str());
}

inline std::string digits(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", value);
    return text;
}

// The largest absolute difference relative to the largest desired value.
inline void check_close(const char* file, int line, const char* what, const std::vector<double>& actual,
                        const std::vector<double>& desired, double tolerance) {
    add_to_digest(actual);
    if (actual.size() != desired.size()) return fail(file, line, std::string(what) + ": different sizes");
    double scale = 0.0;
    for (const double d : desired) scale = std::fmax(scale, std::abs(d));
    for (std::size_t i = 0; i < desired.size(); ++i)
        if (!(std::abs(actual[i] - desired[i]) <= tolerance * scale))
            return fail(file, line,
                        std::string(what) + " at " + std::to_string(i) + ": " + digits(actual[i]) + " instead of " +
                            digits(desired[i]) + ", scale " + digits(scale));
}

inline void check_close(const char* file, int line, const char* what, double actual, double desired, double tolerance) {
    check_close(file, line, what, std::vector<double>{actual}, std::vector<double>{desired}, tolerance);
}

inline bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

template <class Exception, class Action>
void check_throws(const char* file, int line, const std::string& words, const Action& action) {
    try {
        action();
    } catch (const Exception& error) {
        if (std::string(error.what()).find(words) == std::string::npos)
            fail(file, line, std::string("'") + error.what() + "' does not say '" + words + "'");
        return;
    }
    fail(file, line, "no exception that says '" + words + "'");
}

// Runs all tests and returns the exit status. Prints the digest of each, if this is asked for.
inline int run_all(bool with_digests = false) {
    int passed = 0, failed = 0;
    for (const Test& test : tests()) {
        failures() = 0;
        digest() = 0xcbf29ce484222325;
        try {
            test.run();
        } catch (const std::exception& error) {
            fail(test.name, 0, std::string("unexpected exception: ") + error.what());
        }
        if (failures() > 0) std::printf("FAILED %s: %d checks\n", test.name, failures());
        if (with_digests) std::printf("%016llx %s\n", static_cast<unsigned long long>(digest()), test.name);
        failures() > 0 ? ++failed : ++passed;
    }
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}

}  // namespace harness

#define TEST(name)                                                          \
    static void name();                                                     \
    static const harness::Registration registration_of_##name(#name, name); \
    static void name()
#define CHECK(condition)                                                 \
    do                                                                   \
        if (!(condition)) harness::fail(__FILE__, __LINE__, #condition); \
    while (false)
#define CHECK_CLOSE(actual, desired, tolerance) \
    harness::check_close(__FILE__, __LINE__, #actual, actual, desired, tolerance)
#define CHECK_SAME_BITS(actual, desired) CHECK(harness::same_bits(actual, desired))
#define CHECK_THROWS(exception, words, ...) \
    harness::check_throws<exception>(__FILE__, __LINE__, words, [&] { __VA_ARGS__; })
