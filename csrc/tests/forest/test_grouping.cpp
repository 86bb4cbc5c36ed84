#include "forest/grouping.hpp"

#include <algorithm>

#include "harness.hpp"
#include "trees.hpp"

namespace fasthdmr {

namespace {

// A chain of splits on the given variables.
Tree path(const std::vector<std::int64_t>& variables) {
    Tree tree;
    for (const std::int64_t v : variables) {
        const std::int64_t at = std::int64_t(tree.size());
        tree.push_back(split(v, 0.0, at + 1, at + 2));
        tree.push_back(leaf({1}));
    }
    tree.push_back(leaf({2}));
    return tree;
}

}  // namespace

TEST(groups_are_exact_sets_of_variables_in_order) {
    Trees trees(12, 1, 1);
    for (const auto& variables : std::vector<std::vector<std::int64_t>>{
             {3, 1}, {10}, {1, 1, 3}, {}, {2}, {2, 1, 0}, {1, 2}, {2, 2, 2}, {0, 11}, {}})
        trees.add(path(variables));
    const std::vector<Group> groups = group_trees(trees.forest(), 0);
    const std::vector<std::pair<Subspace, std::vector<index>>> expected = {
        {{}, {3, 9}}, {{2}, {4, 7}}, {{10}, {1}}, {{0, 11}, {8}}, {{1, 2}, {6}}, {{1, 3}, {0, 2}}, {{0, 1, 2}, {5}}};
    CHECK(groups.size() == expected.size());
    for (std::size_t g = 0; g < std::min(groups.size(), expected.size()); ++g) {
        CHECK(groups[g].subspace == expected[g].first);
        CHECK(groups[g].trees == expected[g].second);
    }
}

TEST(groups_belong_to_an_output) {
    Trees trees(2, 2, 1);
    trees.add(path({0}), 1).add(path({1}), 0).add(path({0}), 0);
    const Forest forest = trees.forest();
    const std::vector<Group> first = group_trees(forest, 0), second = group_trees(forest, 1);
    CHECK(first.size() == 2 && first[0].trees == std::vector<index>{2} && first[1].trees == std::vector<index>{1});
    CHECK(second.size() == 1 && second[0].trees == std::vector<index>{0});
    CHECK(group_trees(Trees(2, 1, 1).forest(), 0).empty());
}

TEST(every_tree_is_in_one_group) {
    Random random(2);
    TreeGrower grower(random, 5, 3, awkward_values());
    Trees trees(5, 3, 3);
    for (int t = 0; t < 200; ++t) trees.add(grower.grow(t % 5));
    const Forest forest = trees.forest();
    for (index output = 0; output < 3; ++output) {
        const std::vector<Group> groups = group_trees(forest, output);
        index count = 0;
        for (std::size_t g = 0; g < groups.size(); ++g) {
            if (g > 0) CHECK(precedes(groups[g - 1].subspace, groups[g].subspace));
            CHECK(std::is_sorted(groups[g].trees.begin(), groups[g].trees.end()));
            for (const index t : groups[g].trees) CHECK(trees.variables(t) == groups[g].subspace);
            count += index(groups[g].trees.size());
        }
        CHECK(count == forest.n_trees());
    }
}

TEST(subspaces_precede_by_order_then_lexicographically) {
    CHECK(precedes({}, {0}) && precedes({9}, {0, 1}) && precedes({0, 9}, {1, 2}) && precedes({2}, {10}));
    CHECK(!precedes({1, 2}, {1, 2}) && !precedes({0, 1}, {9}));
}

}  // namespace fasthdmr
