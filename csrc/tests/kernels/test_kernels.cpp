#include "kernels/kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "features/tree_features.hpp"
#include "harness.hpp"
#include "kernels/compiler.hpp"
#include "trees.hpp"

namespace fasthdmr {

extern const Kernels kernels_baseline;

namespace {

// Random columns, with leading dimension ld.
std::vector<float> columns(Random& random, index features, index ld) {
    const std::vector<double> pool = awkward_values();
    std::vector<float> x(features * ld);
    for (float& v : x) v = float(random.one_of(pool));
    return x;
}

std::vector<double> start(index rows) { return std::vector<double>(rows + 4, 0.25); }

}  // namespace

TEST(kernels_follow_the_environment_variable) {
    const std::string name = kernels().name;
    const std::string requested = std::getenv("FASTHDMR_CPU") ? std::getenv("FASTHDMR_CPU") : "";
    CHECK(name == "baseline" || name == "avx2" || name == "avx512");
    if (requested == "baseline") CHECK(name == "baseline");
#if defined(__x86_64__)
    if (requested == "avx2" && FASTHDMR_CPU_SUPPORTS("avx2")) CHECK(name == "avx2");
#endif
}

// Results are bit-identical for all instruction sets, and nothing is written beyond the rows.
TEST(kernels_agree_with_the_baseline) {
    Random random(3);
    for (const index rows : {0, 1, 7, 8, 9, 15, 16, 17, 33, 127, 128, 129, 160}) {
        std::vector<double> x(rows), actual = start(rows), desired = start(rows);
        for (double& v : x) v = random.uniform(-1.0, 1.0);
        kernels().add_scaled(1.0 / 3.0, x.data(), rows, actual.data());
        kernels_baseline.add_scaled(1.0 / 3.0, x.data(), rows, desired.data());
        CHECK_SAME_BITS(actual, desired);
        CHECK(actual[rows] == 0.25 && actual[rows + 3] == 0.25);
    }
}

TEST(leaves_are_those_of_a_traversal_row_by_row) {
    Random random(6);
    constexpr index features = 3, ld = 300;
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    TreeGrower grower(random, features, 1, awkward_values());
    for (const double missing : {0.0, 0.02, 0.9})
        for (const index rows : {0, 1, 7, 8, 9, 15, 16, 17, 33, 63, 64, 65, 127, 128, 129, 300})
            for (const int depth : {0, 1, 4, 9, 12}) {
                std::vector<float> x = columns(random, features, ld);
                for (float& v : x) v = random.happens(missing) ? nan : v;
                const Forest forest = Trees(features, 1, 1).add(grower.grow(depth)).forest();
                const Node* tree = forest.tree(0);
                std::vector<std::int32_t> leaf(rows + 4, -7);
                kernels().find_leaves(tree, forest.missing_left(0), depth, x.data(), ld, rows, leaf.data());
                for (index r = 0; r < rows; ++r) {
                    std::int32_t m = 0;
                    while (!Forest::is_leaf(tree, m))
                        m = tree[m].left + goes_right(tree[m], forest.missing_left(0)[m], x[tree[m].feature * ld + r]);
                    CHECK(leaf[r] == m);
                }
                CHECK(leaf[rows] == -7 && leaf[rows + 3] == -7);
            }
}

// Random ranks, and nodes or paths that compare them.
struct Coded {
    static constexpr index features = 3, ld = 192;
    Random random;
    std::vector<std::int32_t> ranks;

    explicit Coded(std::uint64_t seed) : random(seed), ranks(features * ld) {
        for (std::int32_t& rank : ranks)
            rank = std::int32_t(random.happens(0.7) ? random.below(9) : kMostThresholds + random.below(2));
    }

    void fill(std::int32_t* variable, std::int32_t* code, int count) {
        for (int m = 0; m < count; ++m) {
            const std::int32_t own =
                random.happens(0.1) ? kNeverRight : ranks[random.below(features * ld)] + kLowestCode;
            variable[m] = std::int32_t(random.below(features));
            code[m] = std::int32_t(std::uint32_t(own & 0xffff) * 0x10001u);
        }
    }

    // Columns of codes are as far apart as in a block of so many rows.
    static index leading(index rows) { return rows <= kTile ? kTile : ld; }

    // The order of codes in a tile depends on the instruction set, so each set encodes the ranks itself.
    template <class Add>
    std::vector<double> sums(const Kernels& set, index rows, const Add& add) const {
        Buffer<std::int16_t> codes(features * ld);
        for (index v = 0; v < features; ++v) set.encode(ranks.data() + v * ld, rows, codes.data() + v * leading(rows));
        std::vector<double> out = start(rows);
        add(set, codes.data(), out.data());
        return out;
    }

    // The sums. They must agree with the baseline, and nothing may be written beyond the rows.
    template <class Add>
    std::vector<double> checked(index rows, const Add& add) const {
        const std::vector<double> actual = sums(kernels(), rows, add);
        CHECK_SAME_BITS(actual, sums(kernels_baseline, rows, add));
        CHECK(actual[rows] == 0.25 && actual[rows + 3] == 0.25);
        return actual;
    }
};

TEST(coded_trees_agree_with_the_baseline) {
    Coded coded(4);
    for (const index rows : {0, 1, 2, 3, 7, 16, 17, 32, 33, 63, 64, 65, 96, 97, 127, 128, 129, 160})
        for (int depth = 1; depth <= kShallowDepth; ++depth) {
            Buffer<CodedTree> trees(20);
            for (CodedTree& tree : trees) {
                coded.fill(tree.variable, tree.code, 7);
                for (double& value : tree.leaf) value = coded.random.uniform(-1.0, 1.0);
            }
            const auto actual = coded.checked(rows, [&](const Kernels& set, const std::int16_t* codes, double* out) {
                set.add_coded(trees.data(), 20, depth, codes, Coded::leading(rows), rows, out);
            });
            for (index r = 0; r < rows; ++r) {
                double desired = 0.25;
                for (const CodedTree& tree : trees) {
                    int m = 0;
                    for (int level = 0; level < depth; ++level)
                        m = 2 * m + 1 +
                            (coded.ranks[tree.variable[m] * Coded::ld + r] + kLowestCode > std::int16_t(tree.code[m]));
                    desired += tree.leaf[(m - (1 << depth) + 1) << (kShallowDepth - depth)];
                }
                CHECK(actual[r] == desired);
            }
        }
}

TEST(coded_paths_agree_with_the_baseline) {
    Coded coded(8);
    for (const index rows : {0, 1, 7, 63, 64, 65, 127, 128, 129, 160}) {
        Buffer<CodedPaths> pairs(20);
        for (CodedPaths& pair : pairs) {
            coded.fill(pair.variable, pair.code, 6);
            for (double& value : pair.value) value = coded.random.uniform(-1.0, 1.0);
            pair.value[0] = 0.0;
        }
        const auto actual = coded.checked(rows, [&](const Kernels& set, const std::int16_t* codes, double* out) {
            set.add_paths(pairs.data(), 20, codes, Coded::leading(rows), rows, out);
        });
        for (index r = 0; r < rows; ++r) {
            double desired = 0.25;
            for (const CodedPaths& pair : pairs) {
                int number[2];
                for (int p = 0; p < 2; ++p) {
                    bool passes[3];
                    for (int m = 0; m < 3; ++m)
                        passes[m] = coded.ranks[pair.variable[3 * p + m] * Coded::ld + r] + kLowestCode >
                                    std::int16_t(pair.code[3 * p + m]);
                    number[p] = passes[0] && passes[1] ? 1 + passes[2] : 0;
                }
                desired += pair.value[3 * number[0] + number[1]];
            }
            CHECK(actual[r] == desired);
        }
    }
}

TEST(ranks_and_cells_agree_with_their_definitions) {
    Random random(5);
    std::vector<float> x = columns(random, 1, 200);
    x[3] = x[70] = std::numeric_limits<float>::quiet_NaN();
    for (const std::size_t wanted : {0, 1, 2, 3, 31, 32, 60}) {
        std::vector<float> thresholds;
        while (thresholds.size() < wanted) {
            const float t = random.happens(0.5) ? x[random.below(200)] : float(random.uniform(-1.0, 1.0));
            if (std::isnan(t)) continue;
            if (std::find(thresholds.begin(), thresholds.end(), t) == thresholds.end()) thresholds.push_back(t);
        }
        std::sort(thresholds.begin(), thresholds.end());
        const std::int32_t n = std::int32_t(thresholds.size());
        for (const index rows : {0, 1, 5, 63, 64, 65, 200}) {
            std::vector<std::int32_t> ranks(rows + 1, -7), table, major(rows), minor(rows);
            kernels().rank(thresholds.data(), n, x.data(), rows, ranks.data());
            CHECK(ranks[rows] == -7);
            for (index r = 0; r < rows; ++r) {
                const auto below = std::lower_bound(thresholds.begin(), thresholds.end(), x[r]) - thresholds.begin();
                CHECK(ranks[r] == (std::isnan(x[r]) ? n + 1 : below));
            }
            for (std::int32_t k = 0; k <= n + 1; ++k) table.push_back(k / 2);
            kernels().take(table.data(), ranks.data(), rows, major.data());
            for (index r = 0; r < rows; ++r) {
                CHECK(major[r] == ranks[r] / 2);
                minor[r] = std::int32_t(random.below(3));
            }
            std::vector<double> cells(((n + 1) / 2 + 1) * 3), one = start(rows), two = start(rows);
            for (double& cell : cells) cell = random.uniform(-1.0, 1.0);
            kernels().add_cells(cells.data(), 3, major.data(), minor.data(), rows, two.data());
            kernels().add_cells(cells.data(), 1, major.data(), nullptr, rows, one.data());
            CHECK(one[rows] == 0.25 && two[rows] == 0.25);
            for (index r = 0; r < rows; ++r) {
                CHECK(one[r] == 0.25 + cells[major[r]]);
                CHECK(two[r] == 0.25 + cells[major[r] * 3 + minor[r]]);
            }
        }
    }
}

}  // namespace fasthdmr
