#include "spans/profiles.hpp"

#include <cmath>
#include <limits>
#include <map>

#include "harness.hpp"
#include "matrix.hpp"
#include "random.hpp"

namespace fasthdmr {

// Values of either sign and many magnitudes, with ties, zeros of both signs, missing and infinite ones.
TEST(profiles_are_those_of_a_sorted_map) {
    constexpr index rows = 500, columns = 5;
    Random random(3);
    Matrix x(rows, columns);
    std::vector<double> weight(rows);
    for (index r = 0; r < rows; ++r) {
        weight[r] = double(random.below(3));
        for (index j = 0; j < columns; ++j) {
            const double magnitude = std::ldexp(1.0, int(random.below(2000)) - 1000);
            x(r, j) = random.happens(0.1)   ? std::nan("")
                      : random.happens(0.1) ? -std::numeric_limits<double>::infinity()
                      : random.happens(0.5) ? (double(random.below(7)) - 3.0) * -0.5
                                            : random.uniform(-1.0, 1.0) * magnitude;
        }
    }
    for (const double* w : {static_cast<const double*>(nullptr), static_cast<const double*>(weight.data())})
        for (const index step : {index(1), index(3)}) {
            const auto found = profiles(x.table(), w, step, {4, 0, 1, 2, 3}, 2);
            for (index j = 0; j < columns; ++j) {
                std::map<double, double> expected;
                bool has_missing = false;
                for (index r = 0; r < rows; r += step) {
                    const double mass = w ? w[r] : 1.0;
                    has_missing |= mass > 0.0 && std::isnan(x(r, j));
                    if (mass > 0.0 && std::isfinite(x(r, j))) expected[x(r, j)] += mass;
                }
                const Profile& profile = found[(j + 1) % columns];
                CHECK(profile.has_missing == has_missing);
                CHECK(profile.values.size() == expected.size());
                std::size_t k = 0;
                for (const auto& [value, mass] : expected) {
                    CHECK(profile.values[k] == value && profile.weights[k] == mass);
                    CHECK(value != 0.0 || !std::signbit(profile.values[k]));
                    ++k;
                }
            }
        }
}

TEST(profiles_of_nothing_are_empty) {
    Matrix x(0, 2);
    for (const Profile& profile : profiles(x.table(), nullptr, 1, {0, 1}, 2)) CHECK(profile.values.empty());
    CHECK(profiles(x.table(), nullptr, 1, {}, 2).empty());
    CHECK_THROWS(Error, "no such column: 2", profiles(x.table(), nullptr, 1, {2}, 1));
    CHECK_THROWS(Error, "step must be positive", profiles(x.table(), nullptr, 0, {1}, 1));
}

}  // namespace fasthdmr
