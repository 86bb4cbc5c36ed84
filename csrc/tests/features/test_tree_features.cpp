#include "features/tree_features.hpp"

#include <cmath>
#include <map>
#include <tuple>

#include "evaluated.hpp"
#include "features/node_features.hpp"
#include "harness.hpp"
#include "trees.hpp"

namespace fasthdmr {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Trees of depth 0 to 8 in mixed order. Trees of width 1 are assigned to the outputs in turn.
Trees random_trees(Random& random, index features, index outputs, index width, int count) {
    TreeGrower grower(random, features, width, awkward_values());
    Trees trees(features, outputs, width);
    for (int t = 0; t < count; ++t) trees.add(grower.grow(t * 4 % 9), t % outputs);
    for (double& v : trees.offset) v = random.uniform(-1.0, 1.0);
    return trees;
}

std::vector<double> slow_group_features(const Trees& trees, const Matrix& x) {
    std::map<std::tuple<index, std::size_t, Subspace>, std::vector<index>> groups;
    for (index t = 0; t < trees.n_trees(); ++t)
        for (index output = 0; output < trees.n_outputs; ++output)
            if (trees.width > 1 || trees.tree_output[t] == output)
                groups[{output, trees.variables(t).size(), trees.variables(t)}].push_back(t);
    std::vector<double> out;
    for (const auto& [key, members] : groups)
        for (index i = 0; i < x.rows; ++i) {
            double sum = 0.0;
            for (const index t : members) sum += trees.value_at(t, x, i, std::get<0>(key));
            out.push_back(sum);
        }
    return out;
}

std::vector<double> fast_predict(const Forest& forest, const Table& x, int n_threads) {
    return evaluated(Prediction(borrow(forest), n_threads), x, n_threads);
}

std::vector<double> fast_group_features(const Forest& forest, const Table& x, int n_threads) {
    return evaluated(TreeFeatures(borrow(forest), n_threads), x, n_threads);
}

void check_against_traversal(const Trees& trees, const Matrix& x) {
    const Forest forest = trees.forest();
    CHECK_CLOSE(fast_predict(forest, x.table(), 2), trees.predict(x), 1e-13);
    const std::vector<double> features = slow_group_features(trees, x);
    CHECK_CLOSE(fast_group_features(forest, x.table(), 2), features, 1e-13);
    CHECK_CLOSE(evaluated(TreeFeatures(borrow(forest), 2, 0), x.table(), 2), features, 1e-13);  // without tables
}

}  // namespace

TEST(features_match_a_slow_traversal) {
    Random random(4);
    for (const double missing : {0.0, 0.05}) {
        const Matrix x = awkward_rows(random, 600, 4, missing);
        check_against_traversal(random_trees(random, 4, 1, 1, 90), x);
        check_against_traversal(random_trees(random, 4, 3, 1, 90), x);
        check_against_traversal(random_trees(random, 4, 3, 3, 45), x);
        Trees by_sets = random_trees(random, 4, 3, 1, 90);
        by_sets.split_by_sets(random, awkward_values());
        check_against_traversal(by_sets, x);
    }
}

TEST(features_of_shared_variables_match_a_slow_traversal) {
    Random random(17);
    for (const double missing : {0.0, 0.05})
        for (const bool by_sets : {false, true}) {
            Trees trees = random_trees(random, 6, 3, 1, 90);
            if (by_sets) trees.split_by_sets(random, awkward_values());
            trees.of_feature = {2, 0, 2, 2, 1, 0};
            trees.first = 3;
            check_against_traversal(trees, awkward_rows(random, 600, 9, missing));
        }
}

// The columns before the first feature are not read: they hold NaN here.
TEST(features_in_later_columns_have_the_same_bits) {
    Random random(18);
    const Matrix x = awkward_rows(random, 600, 4, 0.05);
    Matrix wide(600, 6);
    std::fill(wide.values.begin(), wide.values.end(), kNan);
    std::copy(x.values.begin(), x.values.end(), wide.column(2));
    for (const bool by_sets : {false, true}) {
        Trees trees = random_trees(random, 4, 3, 1, 90);
        if (by_sets) trees.split_by_sets(random, awkward_values());
        const Forest forest = trees.forest(), later = forest.of_variables({0, 1, 2, 3}, 2);
        CHECK_SAME_BITS(fast_predict(later, wide.table(), 2), fast_predict(forest, x.table(), 2));
        CHECK_SAME_BITS(fast_group_features(later, wide.table(), 2), fast_group_features(forest, x.table(), 2));
        const auto by_node = [](const Forest& of, const Matrix& rows) {
            return evaluated(NodeFeatures(borrow(of), 2), rows.table(), 2);
        };
        CHECK_SAME_BITS(by_node(later, wide), by_node(forest, x));
    }
}

TEST(features_of_every_depth_alone) {
    Random random(5);
    const Matrix x = awkward_rows(random, 530, 2, 0.0);
    for (int depth = 0; depth <= 8; ++depth) {
        TreeGrower grower(random, 2, 1, awkward_values());
        Trees trees(2, 1, 1);
        for (int t = 0; t < 12; ++t) trees.add(grower.grow(depth));
        for (index t = 0; t < 12; ++t) CHECK(trees.forest().depth(t) == depth);
        check_against_traversal(trees, x);
    }
}

TEST(features_for_any_number_of_rows) {
    Random random(6);
    const Trees trees = random_trees(random, 3, 2, 1, 18);
    for (const index rows : {0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 36, 127, 128, 129, 511, 512, 513, 1024, 1100})
        for (const double missing : {0.0, 0.3}) check_against_traversal(trees, awkward_rows(random, rows, 3, missing));
}

// Results are bit-identical, also at values that float32 does not represent exactly.
TEST(features_of_any_type_and_memory_order) {
    Random random(7);
    const Trees trees = random_trees(random, 3, 1, 1, 36);
    const Forest forest = trees.forest();
    for (const double missing : {0.0, 0.02}) {
        const Matrix x = awkward_rows(random, 700, 3, missing);
        const std::vector<double> desired = fast_group_features(forest, x.table(), 1);
        const auto check = [&](const StoredTable& stored) {
            CHECK_SAME_BITS(fast_group_features(forest, stored.table, 1), desired);
        };
        check(store<double>(x, 3 * 8, 8));  // row-major
        check(store<float>(x, 3 * 4, 4));
        check(store<float>(x, 4, 700 * 4));          // column-major
        check(store<double>(x, 2 * 10 * 8, 3 * 8));  // every second row, every third column
        check(store<float>(x, 2 * 10 * 4, 3 * 4));
        check(store<double>(x, -3 * 8, 8));  // rows upside down
        check(store<float>(x, 3 * 4, -4));   // columns from right to left
        check(store<double>(x, 29, 9));      // fields that are not aligned
        check(store<float>(x, 17, 5));
    }
}

TEST(features_do_not_depend_on_threads) {
    Random random(8);
    const Forest forest = random_trees(random, 3, 2, 2, 40).forest();
    for (const double missing : {0.0, 0.001}) {
        const Matrix x = awkward_rows(random, 2700, 3, missing);
        const std::vector<double> predicted = fast_predict(forest, x.table(), 1);
        const std::vector<double> grouped = fast_group_features(forest, x.table(), 1);
        for (const int n_threads : {2, 5}) {
            CHECK_SAME_BITS(fast_predict(forest, x.table(), n_threads), predicted);
            CHECK_SAME_BITS(fast_group_features(forest, x.table(), n_threads), grouped);
        }
    }
}

TEST(features_of_a_row_do_not_depend_on_other_rows) {
    Random random(9);
    const Forest forest = random_trees(random, 3, 1, 1, 60).forest();
    Matrix x = awkward_rows(random, 600, 3, 0.0);
    const std::vector<double> before = fast_predict(forest, x.table(), 1);
    x(100, 1) = kNan;
    std::vector<double> after = fast_predict(forest, x.table(), 1);
    after[100] = before[100];
    CHECK_SAME_BITS(after, before);
}

TEST(features_follow_the_direction_of_missing_values) {
    Trees trees(2, 1, 1);
    trees.add({split(0, 0.0, 1, 2, true), leaf({1}), leaf({2})})
        .add({split(0, 0.0, 1, 2, false), leaf({10}), leaf({20})});
    const Forest forest = trees.forest();
    Matrix x(3, 2);
    x(0, 0) = kNan, x(1, 0) = -1.0, x(2, 0) = 1.0;
    CHECK(fast_predict(forest, x.table(), 1) == (std::vector<double>{21, 11, 22}));
    x(1, 1) = kNan;  // on a variable that no tree splits on
    CHECK(fast_predict(forest, x.table(), 1) == (std::vector<double>{21, 11, 22}));
}

// More thresholds than 16 bits can number, once as stumps and once as one search tree whose leaf values are the ranks.
TEST(features_with_65537_thresholds_on_a_variable) {
    constexpr std::int64_t count = 65537;
    const auto threshold = [](std::int64_t k) { return std::nextafter(float(k) / 65536.0f, -1.0f); };
    Trees stumps, search;
    for (std::int64_t k = 0; k < count; ++k) stumps.add({split(0, threshold(k), 1, 2), leaf({0}), leaf({1})});
    Tree tree;
    const auto grow = [&](auto& self, std::int64_t low, std::int64_t high) -> std::int64_t {
        const std::int64_t at = std::int64_t(tree.size()), middle = low + (high - low) / 2;
        tree.push_back(low == high ? leaf({double(low)}) : split(0, threshold(middle), 0, 0));
        if (low < high) {
            const std::int64_t left = self(self, low, middle), right = self(self, middle + 1, high);
            tree[at].left = left;
            tree[at].right = right;
        }
        return at;
    };
    grow(grow, 0, count);
    search.add(tree);

    Random random(10);
    Matrix x(300, 1);
    std::vector<double> rank(300);
    for (index i = 0; i < 300; ++i) {
        const std::int64_t k = i < 3 ? (i * count) / 2 : random.below(count);
        x(i, 0) = i % 2 ? threshold(std::min(k, count - 1)) : float(k) / 65536.0f;
        for (std::int64_t j = 0; j < count; ++j) rank[i] += float(x(i, 0)) > threshold(j);
    }
    CHECK(fast_predict(stumps.forest(), x.table(), 2) == rank);
    CHECK(fast_predict(search.forest(), x.table(), 2) == rank);
}

// Many trees on few thresholds, for which tables save time. Any memory budget is respected; trees without tables are
// traversed.
TEST(features_keep_to_the_memory_for_tables) {
    Random random(11);
    for (const int depth : {1, 2, 3}) {
        std::vector<double> thresholds;
        for (int k = 0; k < 30; ++k) thresholds.push_back(random.uniform(-1.0, 1.0));
        TreeGrower grower(random, 5, 1, thresholds);
        Trees trees(5, 1, 1);
        for (int t = 0; t < 1500; ++t) trees.add(grower.grow(depth));
        Matrix x(400, 5);
        for (double& v : x.values) v = random.happens(0.02) ? kNan : random.one_of(thresholds);
        const std::vector<double> desired = slow_group_features(trees, x);
        const Forest forest = trees.forest();
        const std::uint64_t all = TreeFeatures(borrow(forest), 1).table_bytes();
        CHECK(all > 0 && all <= kTableBytes);
        for (const std::uint64_t budget : {std::uint64_t(0), all / 3, all - 1, all}) {
            const TreeFeatures features(borrow(forest), 2, budget);
            CHECK(features.table_bytes() <= budget);
            CHECK(budget < all / 3 || features.table_bytes() > 0);
            CHECK_CLOSE(evaluated(features, x.table(), 2), desired, 1e-12);
        }
    }
}

TEST(features_at_the_end_of_a_long_chain) {
    constexpr int length = 3000;
    Trees trees;
    trees.add(chain(length));
    Matrix x(20, 1);
    std::vector<double> desired(20);
    for (index i = 0; i < 20; ++i) x(i, 0) = desired[i] = double(i * length / 19);
    CHECK(fast_predict(trees.forest(), x.table(), 1) == desired);
}

TEST(features_of_no_trees_are_the_offset) {
    Trees trees(2, 2, 1);
    trees.offset = {1.5, -2.0};
    CHECK(fast_predict(trees.forest(), Matrix(2, 2).table(), 1) == (std::vector<double>{1.5, 1.5, -2.0, -2.0}));
    CHECK(fast_group_features(trees.forest(), Matrix(2, 2).table(), 1).empty());
}

}  // namespace fasthdmr
