#include "kernels.hpp"

#include <cstdlib>

#include "features.hpp"
#include "harness.hpp"
#include "trees.hpp"

namespace fasthdmr {

extern const Kernels kernels_baseline;

namespace {

// Column-wise floats, `spare` of them behind every column.
std::vector<float> columns(Random& random, index features, index ld) {
    const std::vector<double> pool = awkward_values();
    std::vector<float> x(features * ld);
    for (float& v : x) v = float(random.one_of(pool));
    return x;
}

std::vector<double> start(index rows) { return std::vector<double>(rows + 4, 0.25); }

}  // namespace

TEST(kernels_follow_the_wish) {
    const std::string name = kernels().name, wish = std::getenv("FASTHDMR_CPU") ? std::getenv("FASTHDMR_CPU") : "";
    CHECK(name == "baseline" || name == "avx2" || name == "avx512");
    if (wish == "baseline") CHECK(name == "baseline");
#if defined(__x86_64__)
    if (wish == "avx2" && __builtin_cpu_supports("avx2")) CHECK(name == "avx2");
#endif
}

// Same bits whatever the instruction set, and nothing written behind the rows.
TEST(kernels_agree_with_the_baseline) {
    Random random(3);
    constexpr index features = 3, ld = 160;
    const std::vector<float> x = columns(random, features, ld);
    TreeGrower grower(random, features, 1, awkward_values());
    for (const index rows : {0, 1, 7, 8, 9, 15, 16, 17, 33, 127, 128, 129, 160}) {
        for (int depth = 1; depth <= kShallowDepth; ++depth) {
            std::vector<ShallowTree> trees(20);
            for (ShallowTree& tree : trees) {
                for (int m = 0; m < 7; ++m) {
                    tree.feature[m] = std::int32_t(random.below(features));
                    tree.threshold[m] = x[random.below(features * ld)];
                }
                for (double& value : tree.leaf) value = random.uniform(-1.0, 1.0);
            }
            std::vector<double> actual = start(rows), desired = start(rows);
            kernels().add_shallow(trees.data(), 20, depth, x.data(), ld, rows, actual.data());
            kernels_baseline.add_shallow(trees.data(), 20, depth, x.data(), ld, rows, desired.data());
            CHECK_SAME_BITS(actual, desired);
            CHECK(actual[rows] == 0.25 && actual[rows + 3] == 0.25);
        }
        const Forest forest = Trees(features, 1, 1).add(grower.grow(7)).forest();
        std::vector<double> actual = start(rows), desired = start(rows);
        kernels().add_deep(forest.tree(0), 7, forest.values(0), 1, x.data(), ld, rows, actual.data());
        kernels_baseline.add_deep(forest.tree(0), 7, forest.values(0), 1, x.data(), ld, rows, desired.data());
        kernels().add_scaled(1.0 / 3.0, desired.data(), rows, actual.data());
        kernels_baseline.add_scaled(1.0 / 3.0, std::vector<double>(desired).data(), rows, desired.data());
        CHECK_SAME_BITS(actual, desired);
        CHECK(actual[rows] == 0.25 && actual[rows + 3] == 0.25);
    }
}

}  // namespace fasthdmr
