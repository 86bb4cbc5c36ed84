#include "inspection/partial_dependence.hpp"

#include <algorithm>
#include <cmath>

#include "harness.hpp"
#include "inspection/path_weights.hpp"
#include "trees.hpp"

namespace fasthdmr {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// Rows whose values are often equal to thresholds, with some missing values.
Matrix rows_near(Random& random, index rows, index features, const std::vector<double>& pool, double missing) {
    Matrix x(rows, features);
    for (double& v : x.values) v = random.happens(missing) ? nan : random.one_of(pool);
    return x;
}

// Partial dependence by its definition: all rows are evaluated by all trees at every point of the grid.
std::vector<double> by_brute_force(const Trees& trees, Matrix x, const std::vector<double>& weight,
                                   const std::vector<GridAxis>& axes, const std::vector<index>& grid) {
    std::vector<double> result;
    DoubleDouble total;
    for (index i = 0; i < x.rows; ++i) total += weight.empty() ? 1.0 : weight[i];
    for (index output = 0; output < trees.n_outputs; ++output) {
        std::vector<std::size_t> point(grid.size(), 0);
        while (point[0] < axes[grid[0]].values.size()) {
            for (std::size_t a = 0; a < grid.size(); ++a)
                std::fill_n(x.column(axes[grid[a]].variable), x.rows, axes[grid[a]].values[point[a]]);
            DoubleDouble sum;
            for (index i = 0; i < x.rows; ++i)
                for (index t = 0; t < trees.n_trees(); ++t)
                    sum += DoubleDouble(weight.empty() ? 1.0 : weight[i]) * trees.value_at(t, x, i, output);
            result.push_back(double(trees.offset[output] + sum / total));
            for (std::size_t a = grid.size(); a-- > 0;) {
                if (++point[a] < axes[grid[a]].values.size() || a == 0) break;
                point[a] = 0;
            }
        }
    }
    return result;
}

std::vector<GridAxis> make_axes(Random& random, index features, const std::vector<double>& pool) {
    std::vector<GridAxis> axes;
    for (index k = 0; k < 2 * features; ++k) {
        std::vector<double> values(1 + random.below(6));
        for (double& v : values) v = random.one_of(pool);
        std::sort(values.begin(), values.end());
        axes.push_back({std::int32_t(k % features), values});
    }
    return axes;
}

}  // namespace

// Trees with fewer and with more splits than are encoded. At thresholds, grid points and values of rows comparisons in
// float32 and in float64 differ.
TEST(partial_dependence_is_the_mean_over_rows) {
    Random random(21);
    const std::vector<double> pool = awkward_values();
    constexpr index features = 4;
    const std::vector<std::vector<index>> grids{{0}, {1}, {7}, {0, 1}, {2, 1}, {5, 0}, {3, 0, 2}, {0, 1, 2, 7}};
    for (const int depth : {0, 1, 3, 4, 7})
        for (const index outputs : {1, 2})
            for (const index width : {index(1), outputs})
                for (const bool weighted : {false, true}) {
                    Trees trees(features, outputs, width);
                    trees.offset[0] = 0.5;
                    TreeGrower grower(random, features, width, pool);
                    for (int t = 0; t < 5; ++t) trees.add(grower.grow(depth), width > 1 ? 0 : t % outputs);
                    if (outputs == 2) trees.split_by_sets(random, pool);
                    const Matrix x = rows_near(random, 40, features, pool, weighted ? 0.1 : 0.0);
                    std::vector<double> weight(weighted ? x.rows : 0);
                    for (double& w : weight) w = double(random.below(3));
                    const std::vector<GridAxis> axes = make_axes(random, features, pool);
                    const auto found = partial_dependence(trees.forest(), x.table(), weighted ? weight.data() : nullptr,
                                                          axes, grids, 2);
                    CHECK(found.size() == grids.size());
                    for (std::size_t g = 0; g < grids.size(); ++g)
                        CHECK_CLOSE(found[g], by_brute_force(trees, x, weight, axes, grids[g]), 1e-13);
                }
}

// More rows than in a block, and more grids than in a pass.
TEST(partial_dependence_has_the_same_bits_on_any_number_of_threads) {
    Random random(22);
    const std::vector<double> pool{-1.0, -0.5, 0.0, 0.25, 1.0};
    constexpr index features = 3;
    Trees trees(features, 1, 1);
    TreeGrower grower(random, features, 1, pool);
    for (const int depth : {2, 3, 6}) trees.add(grower.grow(depth));
    const Matrix x = rows_near(random, 17000, features, pool, 0.05);
    std::vector<double> weight(x.rows);
    for (double& w : weight) w = random.uniform();
    const std::vector<GridAxis> axes = make_axes(random, features, pool);
    std::vector<std::vector<index>> grids;
    for (index k = 0; k < 70; ++k) grids.push_back({k % 3, 3 + (k + 1) % 3});
    const auto one = partial_dependence(trees.forest(), x.table(), weight.data(), axes, grids, 1);
    for (const int n_threads : {2, 5}) {
        const auto several = partial_dependence(trees.forest(), x.table(), weight.data(), axes, grids, n_threads);
        for (std::size_t g = 0; g < grids.size(); ++g) CHECK_SAME_BITS(several[g], one[g]);
    }
    for (const std::size_t g : {0, 69}) CHECK_CLOSE(one[g], by_brute_force(trees, x, weight, axes, grids[g]), 1e-12);
    for (double& w : weight) w *= std::ldexp(1.0, -60);  // only their ratios matter
    const auto light = partial_dependence(trees.forest(), x.table(), weight.data(), axes, grids, 1);
    for (std::size_t g = 0; g < grids.size(); ++g) CHECK_SAME_BITS(light[g], one[g]);
}

// Batches of one tree, of some trees, and of all trees.
TEST(partial_dependence_does_not_depend_on_the_batches_of_trees) {
    Random random(23);
    const std::vector<double> pool{-1.0, -0.5, 0.0, 0.25, 1.0};
    constexpr index features = 3;
    Trees trees(features, 1, 1);
    TreeGrower grower(random, features, 1, pool);
    for (int t = 0; t < 12; ++t) trees.add(grower.grow(1 + t % 5));
    const Matrix x = rows_near(random, 60, features, pool, 0.05);
    const std::vector<GridAxis> axes = make_axes(random, features, pool);
    const std::vector<std::vector<index>> grids{{0}, {1, 2}, {3, 1}};
    for (const index bytes : {index(0), index(1000), index(3000), kBatchBytes}) {
        const auto found = partial_dependence(trees.forest(), x.table(), nullptr, axes, grids, 2, bytes);
        for (std::size_t g = 0; g < grids.size(); ++g)
            CHECK_CLOSE(found[g], by_brute_force(trees, x, {}, axes, grids[g]), 1e-13);
    }
}

TEST(free_sets_are_all_subsets) {
    const FreeSets free(5, {{1, 3}, {4}});
    CHECK(free.count() == 5);  // none, 1, 3, 13, 4
    const std::int32_t one = free.with(0, 1), both = free.with(one, 3);
    CHECK(one > 0 && both > 0 && one != both);
    CHECK(free.with(free.with(0, 3), 1) == both);
    CHECK(free.with(both, 1) == both);
    CHECK(free.with(0, 0) == -1 && free.with(one, 4) == -1 && free.with(both, 4) == -1);
    std::vector<std::int32_t> subsets = free.subsets({1, 3});
    std::sort(subsets.begin(), subsets.end());
    std::vector<std::int32_t> desired{0, one, free.with(0, 3), both};
    std::sort(desired.begin(), desired.end());
    CHECK(subsets == desired);
}

TEST(partial_dependence_rejects_invalid_grids) {
    Trees trees(2, 1, 1);
    trees.add({leaf({1.0})});
    const Forest forest = trees.forest();
    const Matrix x(3, 2), narrow(3, 1);
    const std::vector<GridAxis> axes{{0, {0.0, 1.0}}, {0, {2.0}}, {1, {1.0}}};
    const auto run = [&](const std::vector<GridAxis>& a, const std::vector<std::vector<index>>& grids) {
        return partial_dependence(forest, x.table(), nullptr, a, grids, 1);
    };
    CHECK(run(axes, {}).empty());
    CHECK_THROWS(Error, "different numbers of features",
                 partial_dependence(forest, narrow.table(), nullptr, axes, {{0}}, 1));
    CHECK_THROWS(Error, "no such feature", run({{2, {0.0}}}, {{0}}));
    CHECK_THROWS(Error, "must be ascending numbers", run({{0, {1.0, 0.0}}}, {{0}}));
    CHECK_THROWS(Error, "must be ascending numbers", run({{0, {0.0, nan}}}, {{0}}));
    CHECK_THROWS(Error, "must be ascending numbers", run({{0, {}}}, {{0}}));
    CHECK_THROWS(Error, "one to four axes", run(axes, {{}}));
    CHECK_THROWS(Error, "no such axis", run(axes, {{3}}));
    CHECK_THROWS(Error, "different variables", run(axes, {{0, 1}}));
}

}  // namespace fasthdmr
