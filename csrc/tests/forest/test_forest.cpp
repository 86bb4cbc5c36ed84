#include "forest/forest.hpp"

#include <limits>

#include "forest/rounding.hpp"
#include "harness.hpp"
#include "trees.hpp"

namespace fasthdmr {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr float kFloatInfinity = std::numeric_limits<float>::infinity();

template <class To, class From>
To from_bits(From bits) {
    static_assert(sizeof(To) == sizeof(From));
    To value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

// In the order of the forest: 0, 3, 1, 4, 2.
Tree small_tree() { return {split(1, 0.1, 3, 1, true), leaf({1}), leaf({2}), split(0, 2.0, 4, 2), leaf({4})}; }

void check_rounding(double t, float x) {
    const float rounded = largest_float_not_above(t);
    for (const float at :
         {x, rounded, std::nextafter(rounded, kFloatInfinity), std::nextafter(rounded, -kFloatInfinity)})
        CHECK((double(at) <= t) == (at <= rounded));
}

// Constructs a forest from arrays that have been changed.
template <class Change>
void construct(const Change& change) {
    Trees trees(2, 1, 1);
    trees.add({leaf({7})}).add(small_tree());
    change(trees);
    trees.forest();
}

}  // namespace

TEST(forest_rounds_thresholds_as_it_compares) {
    Random random(1);
    for (const double t : awkward_values())
        for (const double x : awkward_values()) check_rounding(t, float(x));
    for (int k = 0; k < 20000; ++k) {
        const float f = from_bits<float>(std::uint32_t(random.bits())),
                    x = from_bits<float>(std::uint32_t(random.bits()));
        if (std::isnan(f) || std::isnan(x)) continue;
        const double half = 0.5 * double(f) + 0.5 * double(std::nextafter(f, kFloatInfinity));
        for (const double t : {double(f), half, from_bits<double>(random.bits())})
            for (const double near : {t, std::nextafter(t, kInfinity), std::nextafter(t, -kInfinity)}) {
                if (std::isnan(near)) continue;
                check_rounding(near, x);
                check_rounding(near, f);
            }
    }
    CHECK(largest_float_not_above(kInfinity) == kFloatInfinity);
    CHECK(largest_float_not_above(1e300) == std::numeric_limits<float>::max());
    CHECK(largest_float_not_above(-1e300) == -kFloatInfinity);
    CHECK(largest_float_not_above(-kInfinity) == -kFloatInfinity);
    CHECK(largest_float_not_above(0.1) < 0.1);
}

TEST(forest_stores_siblings_as_neighbours) {
    Trees trees(2, 1, 1);
    trees.add({leaf({7})}).add(small_tree());
    trees.offset = {0.5};
    const Forest forest = trees.forest();
    CHECK(forest.n_trees() == 2 && forest.n_nodes() == 6 && forest.n_features() == 2 && forest.n_outputs() == 1);
    CHECK(forest.offset() == std::vector<double>{0.5});
    CHECK(forest.depth(0) == 0 && forest.tree_size(0) == 1 && Forest::is_leaf(forest.tree(0), 0));
    CHECK(forest.depth(1) == 2 && forest.tree_size(1) == 5 && forest.tree_begin(1) == 1);

    const Node* tree = forest.tree(1);
    const std::int32_t left[] = {1, 3, 2, 3, 4};
    for (index m = 0; m < 5; ++m) {
        CHECK(tree[m].left == left[m]);
        CHECK(Forest::is_leaf(tree, m) == (m >= 2));
        if (m >= 2) CHECK(tree[m].threshold == kFloatInfinity && tree[m].feature == 0);
    }
    CHECK(tree[0].feature == 1 && tree[0].threshold == largest_float_not_above(0.1));
    CHECK(tree[1].feature == 0 && tree[1].threshold == 2.0f);
    CHECK(forest.missing_left(1)[0] == 1 && forest.missing_left(1)[1] == 0);
    CHECK(forest.values(1)[2] == 1 && forest.values(1)[3] == 4 && forest.values(1)[4] == 2);
}

TEST(forest_stores_the_heavier_sibling_s_descendants_first) {
    Trees trees(1, 1, 1);
    trees.add(
        {split(0, 0.0, 1, 2), split(0, -1.0, 3, 4), split(0, 1.0, 5, 6), leaf({3}), leaf({4}), leaf({5}), leaf({6})});
    const auto order = [&](const double* weight) {
        TreeArrays arrays = trees.arrays();
        arrays.weight = weight;
        const Forest forest(arrays);
        return std::vector<double>(forest.values(0) + 3, forest.values(0) + 7);
    };
    const double left[] = {9, 5, 4, 1, 4, 2, 2}, right[] = {9, 4, 5, 1, 3, 2, 3};
    CHECK(order(nullptr) == std::vector<double>({3, 4, 5, 6}));
    CHECK(order(left) == std::vector<double>({3, 4, 5, 6}));
    CHECK(order(right) == std::vector<double>({5, 6, 3, 4}));
}

TEST(forest_assigns_trees_to_outputs) {
    Trees single(1, 2, 1);
    single.add({leaf({1})}, 1).add({leaf({2})}, 0);
    const Forest narrow = single.forest();
    CHECK(narrow.adds_to(0, 1) && !narrow.adds_to(0, 0) && narrow.adds_to(1, 0) && !narrow.adds_to(1, 1));
    CHECK(narrow.value_column(1) == 0 && narrow.tree_output(0) == 1);

    Trees vector(1, 2, 2);
    vector.add({leaf({1, 2})}, 99);  // ignored with vector leaves
    const Forest wide = vector.forest();
    CHECK(wide.adds_to(0, 0) && wide.adds_to(0, 1) && wide.width() == 2);
    CHECK(wide.values(0)[wide.value_column(1)] == 2);
}

TEST(forest_reach_is_the_sum_of_largest_leaves) {
    Trees vector(2, 2, 2);
    vector.add({split(0, 0.5, 1, 2), leaf({-3, 1}), leaf({2, 0})}).add({leaf({0.5, -1e308})}).add({leaf({0, 1e308})});
    CHECK(vector.forest().reach() == (std::vector<double>{3.5, kInfinity}));
    Trees single(1, 2, 1);
    single.add({leaf({std::numeric_limits<double>::quiet_NaN()})}, 1).add({leaf({-2})}, 0);
    CHECK(single.forest().reach() == (std::vector<double>{2.0, kInfinity}));
}

TEST(a_scaled_forest_has_the_bits_of_the_forest_of_scaled_leaves) {
    Trees trees(2, 1, 1);
    trees.add({split(0, 0.5, 1, 2), split(1, 0.5, 3, 4), leaf({1.0 / 3.0}), leaf({0.1}), leaf({0.7})});
    for (const double factor : {0.1, 0.3, 1.0 / 7.0, 1e-3}) {
        Trees leaves = trees;
        for (double& value : leaves.value) value *= factor;
        const Forest scaled = trees.forest().scaled(&factor), again = leaves.forest();
        CHECK_SAME_BITS(std::vector<double>(scaled.values(0), scaled.values(0) + 5),
                        std::vector<double>(again.values(0), again.values(0) + 5));
    }
}

TEST(forest_may_be_empty) {
    const Forest forest = Trees(3, 1, 1).forest();
    CHECK(forest.n_trees() == 0 && forest.n_nodes() == 0);
}

TEST(forest_of_a_long_chain) {
    constexpr int length = 20000;
    CHECK(Trees(1, 1, 1).add(chain(length)).forest().depth(0) == length);
}

TEST(forest_rejects_graphs_that_are_not_trees) {
    construct([](Trees&) {});
    const auto rejects = [](const char* words, auto change) { CHECK_THROWS(Error, words, construct(change)); };
    // Node m of the second tree is at 1 + m.
    rejects("tree 1, node 3: not a tree: its child 0 is out of range",
            [](Trees& t) { t.left[1 + 3] = 0; });                                 // a cycle through the root
    rejects("not a tree", [](Trees& t) { t.left[1 + 3] = 3; });                   // its own child
    rejects("node 4: not a tree: its child 3 has another parent", [](Trees& t) {  // a cycle further down
        t.left[1 + 4] = 3, t.right[1 + 4] = 2, t.feature[1 + 4] = 0, t.threshold[1 + 4] = 0.0;
    });
    rejects("tree 1, node 0: not a tree: its child 5 is out of range",
            [](Trees& t) { t.left[1] = 5; });                  // a node that does not exist
    rejects("not a tree", [](Trees& t) { t.right[1] = -1; });  // one child only
    rejects("not a tree", [](Trees& t) { t.right[1] = -7; });
    rejects("not a tree", [](Trees& t) { t.right[1] = std::numeric_limits<std::int64_t>::min(); });
    rejects("not a tree", [](Trees& t) { t.left[1] = std::numeric_limits<std::int64_t>::max(); });
    rejects("nodes that no path from the root reaches", [](Trees& t) { t.left[1 + 3] = t.right[1 + 3] = -1; });
    rejects("tree 1, node 3: no such feature: 2", [](Trees& t) { t.feature[1 + 3] = 2; });
    rejects("no such feature: -1", [](Trees& t) { t.feature[1 + 3] = -1; });
    rejects("tree 1, node 3: the threshold is NaN", [](Trees& t) { t.threshold[1 + 3] = std::nan(""); });
}

// As many references as nodes, but one node is referred to twice and another never.
TEST(forest_rejects_shared_children) {
    const auto rejects = [](auto change) { CHECK_THROWS(Error, "tree 1", construct(change)); };
    rejects([](Trees& t) { t.right[1] = 3; });      // both branches lead to the same split
    rejects([](Trees& t) { t.right[1 + 3] = 4; });  // both branches lead to the same leaf
    rejects([](Trees& t) { t.right[1 + 3] = 1; });  // a leaf of another level
}

TEST(forest_rejects_wrong_arrays) {
    const auto rejects = [](const char* words, auto change) { CHECK_THROWS(Error, words, construct(change)); };
    rejects("tree offsets must span the nodes", [](Trees& t) { t.tree_offsets = {0, 1, 5}; });
    rejects("tree offsets must span the nodes", [](Trees& t) { t.tree_offsets = {1, 1, 6}; });
    rejects("tree 0: no nodes", [](Trees& t) { t.tree_offsets = {0, 0, 6}; });
    rejects("tree 1: no nodes", [](Trees& t) { t.tree_offsets = {0, 1, 1, 6}, t.tree_output = {0, 0, 0}; });
    rejects("tree 0: no nodes", [](Trees& t) { t.tree_offsets = {0, -1, 6}; });
    rejects("tree 0: no nodes", [](Trees& t) { t.tree_offsets = {0, 7, 6}; });
    rejects("tree 1", [](Trees& t) {
        t.tree_offsets = {0, 1, std::numeric_limits<std::int64_t>::min(), 6}, t.tree_output = {0, 0, 0};
    });
    rejects("tree 1: no such output: 1", [](Trees& t) { t.tree_output[1] = 1; });
    rejects("tree 0: no such output: -1", [](Trees& t) { t.tree_output[0] = -1; });
    rejects("at least one feature and one output", [](Trees& t) { t.n_features = 0; });
    rejects("at least one feature and one output", [](Trees& t) { t.n_outputs = 0; });
    rejects("too many features: 2097153", [](Trees& t) { t.n_features = 2097153; });
    rejects("1 or n_outputs columns", [](Trees& t) { t.width = 2; });
}

}  // namespace fasthdmr
