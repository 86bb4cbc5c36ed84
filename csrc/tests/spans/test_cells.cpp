#include "spans/cells.hpp"

#include <cmath>
#include <limits>

#include "harness.hpp"
#include "matrix.hpp"
#include "random.hpp"

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
        find_cells({0, breaks, false, 0.0, 0.0}, x, cells.data());
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
    CHECK_THROWS(Error, "breaks must ascend", find_cells({0, {1.0, 0.0}, false, 0.0, 0.0}, x, &cell));
    CHECK_THROWS(Error, "no such column: 1", find_cells({1, {}, false, 0.0, 0.0}, x, &cell));
}

// More rows than a panel, of which most have no weight. The second variable is categorical, with unknown levels.
TEST(cells_of_pairs_are_occupied_by_rows_with_weight) {
    constexpr index rows = 40000;
    const double nan = std::nan("");
    Random random(7);
    Matrix x(rows, 2);
    std::vector<double> weight(rows);
    for (index r = 0; r < rows; ++r) {
        x(r, 0) = random.happens(0.1) ? nan : random.uniform(0.0, 3.0);
        x(r, 1) = double(random.below(6)) - 1.0;
        weight[r] = random.happens(1e-3) ? 1.0 : 0.0;
    }
    const std::vector<CellAxis> axes{{0, {1.0, 2.0}, false, 0.0, 3.0}, {1, {1.0, 2.0, 3.0}, true, 0.0, 4.0}};
    std::vector<char> expected(4 * 5, 0);
    for (index r = 0; r < rows; ++r) {
        const index first = std::isnan(x(r, 0)) ? 3 : index(x(r, 0));
        const index second = x(r, 1) < 0.0 || x(r, 1) >= 4.0 ? 4 : index(x(r, 1));
        if (weight[r] > 0.0) expected[first * 5 + second] = 1;
    }
    for (const int n_threads : {1, 3})
        CHECK(occupied_cells(axes, {{0, 1}}, x.table(), weight.data(), n_threads)[0] == expected);
    CHECK_THROWS(Error, "no such axis", occupied_cells(axes, {{0, 2}}, x.table(), nullptr, 1));
}

}  // namespace fasthdmr
