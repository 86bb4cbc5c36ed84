#include "spans/cells.hpp"

#include <cmath>
#include <limits>

#include "harness.hpp"

namespace fasthdmr {

TEST(cells_count_breaks_that_are_not_above) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const double nan = std::nan("");
    for (index n = 0; n < 40; ++n) {
        std::vector<double> breaks, values{-infinity, infinity, nan};
        for (index k = 0; k < n; ++k) breaks.push_back(double(k / 2));  // some are equal
        for (index k = -1; k <= n; ++k) values.insert(values.end(), {k / 2.0, std::nextafter(k / 2.0, -infinity)});
        std::vector<index> cells(values.size());
        const Table x{reinterpret_cast<const char*>(values.data()), false, index(values.size()), 1, 8, 8};
        find_cells(breaks, x, 0, cells.data());
        for (std::size_t r = 0; r < values.size(); ++r) {
            index expected = 0;
            for (const double b : breaks) expected += b <= values[r];
            CHECK(cells[r] == (std::isnan(values[r]) ? n + 1 : expected));
        }
    }
}

TEST(cells_refuse_breaks_that_do_not_ascend) {
    const double value = 0.0;
    index cell = 0;
    const Table x{reinterpret_cast<const char*>(&value), false, 1, 1, 8, 8};
    CHECK_THROWS(Error, "breaks must ascend", find_cells({1.0, 0.0}, x, 0, &cell));
    CHECK_THROWS(Error, "no such column: 1", find_cells({}, x, 1, &cell));
}

}  // namespace fasthdmr
