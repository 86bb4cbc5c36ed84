#include "forest/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "forest/compared_nodes.hpp"
#include "forest/forest.hpp"
#include "forest/rounding.hpp"
#include "forest/row_block.hpp"
#include "harness.hpp"
#include "trees.hpp"

namespace fasthdmr {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::shared_ptr<const Comparison> float64(const Trees& trees, std::vector<Replacement> replaced = {}) {
    const TreeArrays a = trees.arrays();
    replaced.resize(a.n_features);
    return compare_nodes({a.n_nodes, a.left, a.right, a.feature, a.threshold}, std::move(replaced)).comparison;
}

std::shared_ptr<const Forest> forest_of(const Trees& trees, std::shared_ptr<const Comparison> comparison) {
    TreeArrays arrays = trees.arrays();
    arrays.comparison = std::move(comparison);
    return std::make_shared<const Forest>(arrays);
}

// The cuts of a union of closed intervals.
SetCuts union_of(const std::vector<double>& intervals, bool rounds = false) {
    SetCuts cuts;
    cuts.append_union(intervals.data(), index(intervals.size()) / 2, rounds);
    return cuts;
}

}  // namespace

TEST(the_largest_float64_whose_float32_is_not_above) {
    for (const double v : awkward_values()) {
        const float threshold = float(v);
        const double most = largest_double_not_above(threshold);
        CHECK(float(most) <= threshold);
        if (std::isfinite(most)) CHECK(float(std::nextafter(most, kInfinity)) > threshold);
        CHECK(most == kInfinity || most >= double(threshold));
        const double least = smallest_double_not_below(threshold);
        CHECK(float(least) >= threshold && least <= double(threshold));
        if (std::isfinite(least)) CHECK(float(std::nextafter(least, -kInfinity)) < threshold);
    }
}

TEST(float64_codes_compare_as_the_values_do) {
    Random random(11);
    Trees trees(2, 1, 1);
    TreeGrower grower(random, 2, 1, awkward_values());
    for (int t = 0; t < 20; ++t) trees.add(grower.grow(4));
    const auto forest = forest_of(trees, float64(trees));
    const Comparison& comparison = *forest->comparison();
    for (index t = 0; t < forest->n_trees(); ++t)
        for (index m = 0; m < forest->tree_size(t); ++m) {
            const Node& node = forest->tree(t)[m];
            if (Forest::is_leaf(forest->tree(t), m)) continue;
            const double threshold = threshold_of(*forest, node);
            for (const double x : awkward_values())
                CHECK(goes_right(node, true, comparison.code(node.feature, x)) == (x > threshold));
            CHECK(!goes_right(node, true, comparison.code(node.feature, kNan)));
        }
}

TEST(replaced_values) {
    Trees trees(1, 1, 1);
    trees.add({split(0, -0.5, 1, 2, true), leaf({1.0}), leaf({2.0})});
    const auto code = [&](Replacement rule, double x) { return float64(trees, {rule})->code(0, x); };
    CHECK(code({-1.0, 1.0, 0.0}, -1.0) == 1.0f && code({-1.0, 1.0, 0.0}, -1.5) == 0.0f);
    CHECK(std::isnan(code({-1.0, 1.0, kNan}, 1.0)) && code({-1.0, 1.0, kNan}, 1.5) == 1.0f);
    const Comparison single(1, {{0.5, 0.5, kNan}});
    CHECK(std::isnan(single.code(0, 0.5)) && single.code(0, 0.25) == 0.25f);
}

TEST(sets_of_values) {
    const SetCuts cuts = union_of({2.0, 2.5, -1.0, 1.0, 0.5, 1.5});
    CHECK(std::vector<double>(cuts.begin(0), cuts.end(0)) ==
          (std::vector<double>{std::nextafter(-1.0, -2.0), 1.5, std::nextafter(2.0, 0.0), 2.5}));
    CHECK_THROWS(Error, "must be ascending numbers", union_of({1.0, 0.0}));
    Trees trees(2, 1, 1);
    trees.add({split(1, 0.5, 1, 2, true), leaf({1.0}), leaf({2.0})});
    const std::int64_t set[] = {0, -1, -1};
    const TreeArrays a = trees.arrays();
    const NodeArrays nodes{3, a.left, a.right, a.feature, a.threshold, set};
    const auto comparison = compare_nodes(nodes, std::vector<Replacement>(2), cuts).comparison;
    CHECK(comparison->columns() == 3 && comparison->variable(2) == 1 && comparison->without_sets().columns() == 2);
    TreeArrays arrays = a;
    arrays.comparison = comparison;
    arrays.set = set;
    const auto forest = std::make_shared<const Forest>(arrays);
    const Node& node = forest->tree(0)[0];
    CHECK(node.feature == 2 && forest->variable(node) == 1);
    for (const double x : {-1.0, 0.75, 1.5, 2.0, 2.5, -1.5, std::nextafter(1.5, 2.0), 3.0, kInfinity}) {
        float outside;
        const float code = comparison->code(1, x);
        comparison->load_set(2, &code, 1, &outside);
        CHECK(goes_right(node, true, outside) == !((-1.0 <= x && x <= 1.5) || (2.0 <= x && x <= 2.5)));
    }
    const auto plain = forest_of(trees, nullptr);
    const auto both = one_comparison({plain, forest});
    CHECK(both->columns() == 3 && forest->compared_by(both).tree(0)[0].feature == 2);
    CHECK(plain->compared_by(both).tree(0)[0].feature == 1);
    const std::int64_t unknown[] = {1, -1, -1};
    arrays.set = unknown;
    CHECK_THROWS(Error, "no such set of values", Forest{arrays});
}

TEST(sets_of_values_that_are_rounded_to_float32) {
    Random random(12);
    const std::vector<double> values = awkward_values();
    for (int repetition = 0; repetition < 50; ++repetition) {
        std::vector<double> intervals, probes = values;
        for (index k = 0; k < 3; ++k) {
            const double a = values[random.below(index(values.size()))], b = values[random.below(index(values.size()))];
            for (const double end : {std::min(a, b), std::max(a, b)}) {
                intervals.push_back(end);
                for (const float near : {std::nextafter(float(end), -float(kInfinity)), float(end)}) {
                    const double last = largest_double_not_above(near);
                    probes.insert(probes.end(), {last, std::nextafter(last, kInfinity)});
                }
            }
        }
        const SetCuts all = union_of(intervals, true);
        const std::vector<double> cuts(all.begin(0), all.end(0));
        CHECK(cuts.size() % 2 == 0 && std::is_sorted(cuts.begin(), cuts.end()));
        for (const double x : probes) {
            bool expected = false, found = false;
            for (std::size_t k = 0; k < intervals.size(); k += 2)
                expected |= float(intervals[k]) <= float(x) && float(x) <= float(intervals[k + 1]);
            for (std::size_t k = 0; k < cuts.size(); k += 2) found |= cuts[k] < x && x <= cuts[k + 1];
            CHECK(found == (expected && x != -kInfinity));  // no half-open interval contains -infinity
        }
    }
}

// Nodes 0 to 9 split by sets, of which some are equal and some are not used; node 10 by a threshold, node 11 is a leaf.
TEST(numbers_of_the_sets_of_nodes) {
    Random random(13);
    std::vector<std::vector<double>> cuts;
    for (index s = 0; s < 8; ++s) {
        const double low = double(random.below(2)), more = double(random.below(2));
        cuts.push_back({low, low + 1.0});
        if (more > 0.0) cuts.back().insert(cuts.back().end(), {5.0, 6.0});
    }
    std::vector<std::int64_t> left(12, 1), right(12, 2), feature(12, 0), set(12, -1);
    const std::vector<double> threshold(12, 0.25);
    for (index m = 0; m < 10; ++m) {
        feature[m] = random.below(2);
        set[m] = random.below(8);
    }
    left[11] = right[11] = -1;
    const NodeArrays nodes{12, left.data(), right.data(), feature.data(), threshold.data(), set.data()};
    SetCuts all;
    for (const std::vector<double>& of : cuts) all.append(of);
    const auto [kept, numbers, codes] = compare_nodes(nodes, std::vector<Replacement>(2), all);
    const Comparison& comparison = *kept;
    CHECK(numbers[10] == -1 && numbers[11] == -1 && codes[10] == 1.0f);
    std::vector<char> used(comparison.sets().size(), 0);
    for (index m = 0; m < 10; ++m) {
        CHECK((comparison.sets()[numbers[m]] == ValueSet{feature[m], all.begin(set[m]), all.end(set[m])}));
        used[numbers[m]] = 1;
    }
    CHECK(std::count(used.begin(), used.end(), 0) == 0);
    CHECK(comparison.thresholds()[0].front() == 0.0 && comparison.code_of_threshold(0, 0.25) == 1.0f);
    // Codes that are looked up are the same.
    CHECK(comparison == Comparison(comparison.thresholds(), comparison.replaced(), comparison.sets()));
    for (index column = 2; column < comparison.columns(); ++column)
        for (index place = 0; place < comparison.codes_and_missing(column); ++place)
            CHECK(comparison.outside(column)[place] ==
                  Comparison(comparison.thresholds(), comparison.replaced(), comparison.sets()).outside(column)[place]);
}

TEST(one_comparison_for_forests_of_both_kinds) {
    Trees trees(1, 1, 1);
    trees.add({split(0, 0.1, 1, 2), leaf({1.0}), leaf({2.0})});
    const auto in_float32 = forest_of(trees, nullptr), in_float64 = forest_of(trees, float64(trees));
    CHECK(one_comparison({in_float32, in_float32}) == in_float32->comparison());
    const auto both = one_comparison({in_float32, in_float64});
    const double last = largest_double_not_above(largest_float_not_above(0.1));  // that goes left in float32
    for (const auto& forest : {in_float32, in_float64}) {
        const Forest same = forest->compared_by(both);
        for (const double x :
             {0.1, std::nextafter(0.1, 1.0), double(0.1f), last, std::nextafter(last, 1.0), 0.0, 1.0}) {
            const Node &before = forest->tree(0)[0], &after = same.tree(0)[0];
            CHECK(goes_right(after, false, both->code(0, x)) ==
                  goes_right(before, false, forest->comparison()->code(0, x)));
        }
    }
    const auto near_zero = forest_of(trees, float64(trees, {{-1e-35, 1e-35, 0.0}}));
    CHECK(one_comparison({in_float32, near_zero}));
    CHECK(!one_comparison({in_float32, forest_of(trees, float64(trees, {{-1e-35, 1e-35, kNan}}))}));
    CHECK(!one_comparison({in_float32, forest_of(trees, float64(trees, {{-1.0, 1.0, 0.0}}))}));
}

TEST(features_of_variables) {
    Trees trees(3, 1, 1);
    trees.add({split(2, 0.1, 1, 2), leaf({1.0}), leaf({2.0})});
    const auto shared = [](Forest forest) { return std::make_shared<const Forest>(std::move(forest)); };
    const auto forest = forest_of(trees, float64(trees)), own = shared(forest->of_variables({0, 1, 2}, 0));
    CHECK(same(own->comparison(), forest->comparison()) && own->comparison()->has_a_variable_by_column());
    const auto mapped = shared(forest->of_variables({4, 0, 4}, 5)), float32 = forest_of(trees, nullptr);
    CHECK(mapped->variable(mapped->tree(0)[0]) == 4 && mapped->input_columns() == 8 && mapped->n_features() == 3);
    CHECK(!same(mapped->comparison(), forest->comparison()));
    CHECK((group_trees(*mapped, 0)[0].subspace == Subspace{4} && group_nodes(*mapped, 0).subspaces[0] == Subspace{4}));
    const auto both = one_comparison({mapped, shared(float32->of_variables({4, 0, 4}, 5))});
    CHECK(both->variables() == mapped->comparison()->variables() && both->first() == 5);
    CHECK_THROWS(Error, "belong to different variables", one_comparison({mapped, forest}));
    CHECK_THROWS(Error, "belong to different variables", one_comparison({mapped, shared(mapped->of_variables({}, 5))}));
    CHECK_THROWS(Error, "every feature needs a variable", forest->of_variables({0, 1}, 0));
    CHECK_THROWS(Error, "no such variable: -1", forest->of_variables({0, -1, 1}, 0));
    CHECK_THROWS(Error, "must not be negative", forest->of_variables({}, -1));
}

}  // namespace fasthdmr
