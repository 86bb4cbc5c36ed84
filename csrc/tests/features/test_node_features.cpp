#include "features/node_features.hpp"

#include <map>

#include "dictionary/tree_columns.hpp"
#include "evaluated.hpp"
#include "harness.hpp"
#include "trees.hpp"

namespace fasthdmr {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Trees as arrays, with a weight for every node. The weights of some nodes define no mean.
struct Weighted {
    Trees trees;
    std::vector<double> weight;

    Weighted(Random& random, index outputs, index width, const std::vector<int>& depths, index features = 4)
        : trees(features, outputs, width) {
        TreeGrower grower(random, features, width, awkward_values());
        for (std::size_t t = 0; t < depths.size(); ++t) trees.add(grower.grow(depths[t]), index(t) % outputs);
        for (double& v : trees.offset) v = random.uniform(-1.0, 1.0);
        const std::vector<double> odd = {0.0, -1.0, kNan, std::numeric_limits<double>::infinity()};
        for (std::size_t m = 0; m < trees.left.size(); ++m)
            weight.push_back(random.happens(0.2) ? random.one_of(odd) : random.uniform(0.0, 9.0));
    }

    Forest forest() const {
        TreeArrays arrays = trees.arrays();
        arrays.weight = weight.data();
        return Forest(arrays).of_variables(trees.of_feature, trees.first);
    }

    // The value of a node by its definition; m and its children are numbered in the arrays.
    double value(index root, index m, index output) const {
        if (trees.left[m] == -1) return trees.value[m * trees.width + (trees.width > 1 ? output : 0)];
        const index left = root + trees.left[m], right = root + trees.right[m];
        double a = weight[left], b = weight[right];
        if (!(a >= 0.0 && b >= 0.0 && a + b > 0.0 && std::isfinite(a + b))) a = b = 1.0;
        return (a * value(root, left, output) + b * value(root, right, output)) / (a + b);
    }
};

using Columns = std::map<std::pair<std::size_t, Subspace>, std::vector<double>>;  // in the order of the subspaces

// The columns by their definition: every node difference is added to the column of its path's variables. Of all trees, or
// of one.
Columns slow_columns(const Weighted& model, const Matrix& x, index output, index only = -1) {
    const Trees& trees = model.trees;
    Columns columns;
    const auto column = [&](const Subspace& u) -> std::vector<double>& {
        return columns.try_emplace({u.size(), u}, std::vector<double>(x.rows)).first->second;
    };
    const auto with = [](Subspace u, std::int64_t variable) {
        if (std::find(u.begin(), u.end(), variable) == u.end()) u.push_back(std::int32_t(variable));
        std::sort(u.begin(), u.end());
        return u;
    };
    for (index t = 0; t < trees.n_trees(); ++t) {
        if ((trees.width == 1 && trees.tree_output[t] != output) || (only >= 0 && t != only)) continue;
        const index root = trees.tree_offsets[t];
        const auto name_all = [&](auto& self, index m, const Subspace& u) -> void {
            column(u);
            if (trees.left[m] == -1) return;
            self(self, root + trees.left[m], with(u, trees.variable(trees.feature[m])));
            self(self, root + trees.right[m], with(u, trees.variable(trees.feature[m])));
        };
        name_all(name_all, root, {});
        for (index i = 0; i < x.rows; ++i) {
            Subspace u;
            double before = model.value(root, root, output);
            column(u)[i] += before;
            for (index m = root; trees.left[m] != -1;) {
                const double at = x(i, trees.first + trees.feature[m]);
                const bool left = std::isnan(at) ? trees.missing_left[m] != 0 : trees.goes_left(m, at);
                u = with(u, trees.variable(trees.feature[m]));
                m = root + (left ? trees.left[m] : trees.right[m]);
                const double value = model.value(root, m, output);
                column(u)[i] += value - before;
                before = value;
            }
        }
    }
    return columns;
}

std::vector<double> fast_columns(const Forest& forest, const Table& x, int n_threads,
                                 std::uint64_t table_bytes = kTableBytes) {
    return evaluated(NodeFeatures(borrow(forest), n_threads, table_bytes), x, n_threads);
}

void check_against_definition(const Weighted& model, const Matrix& x) {
    const Forest forest = model.forest();
    std::vector<double> desired;
    for (index output = 0; output < forest.n_outputs(); ++output) {
        const Columns slow = slow_columns(model, x, output);
        std::vector<Subspace> subspaces;
        for (const auto& [key, column] : slow) {
            if (!key.second.empty()) subspaces.push_back(key.second);
            desired.insert(desired.end(), column.begin(), column.end());
        }
        CHECK(group_nodes(forest, output).subspaces == subspaces);
    }
    CHECK_CLOSE(fast_columns(forest, x.table(), 2), desired, 1e-13);
    CHECK_CLOSE(fast_columns(forest, x.table(), 2, 0), desired, 1e-13);  // without tables
}

bool contains(const Subspace& u, const Subspace& v) { return std::includes(u.begin(), u.end(), v.begin(), v.end()); }

// Single columns, of small and large subspaces, have the bits that they have among all, of 300 rows.
void check_single_columns(const TreeColumns& trees, const Matrix& x, const std::vector<double>& all) {
    for (const index j : {index(0), trees.count() / 2, trees.count() - 1}) {
        std::vector<double> alone(300);
        evaluate(trees, x.table(), {{0, 1}, {j + 1}, {1.0}}, alone.data(), 1);
        CHECK_SAME_BITS(alone, std::vector<double>(all.begin() + j * 300, all.begin() + (j + 1) * 300));
    }
}

std::vector<int> mixed_depths(int count) {
    std::vector<int> depths;
    for (int t = 0; t < count; ++t) depths.push_back(t * 4 % 9);
    return depths;
}

}  // namespace

TEST(node_features_match_the_definition) {
    Random random(30);
    for (const double missing : {0.0, 0.05}) {
        const Matrix x = awkward_rows(random, 600, 4, missing);
        check_against_definition(Weighted(random, 1, 1, mixed_depths(60)), x);
        for (const index features : {1, 4}) {
            Weighted by_sets(random, 2, 1, mixed_depths(60), features);
            by_sets.trees.split_by_sets(random, awkward_values());
            check_against_definition(by_sets, awkward_rows(random, 600, features, missing));
        }
        check_against_definition(Weighted(random, 3, 1, mixed_depths(60)), x);
        check_against_definition(Weighted(random, 3, 3, mixed_depths(30)), x);
    }
}

// One-hot columns: paths of many columns and few variables.
TEST(node_features_of_shared_variables_match_the_definition) {
    Random random(37);
    for (const double missing : {0.0, 0.05})
        for (const bool by_sets : {false, true}) {
            Weighted model(random, 2, 1, mixed_depths(60), 6);
            if (by_sets) model.trees.split_by_sets(random, awkward_values());
            model.trees.of_feature = {2, 0, 2, 2, 1, 0};
            model.trees.first = 3;
            check_against_definition(model, awkward_rows(random, 600, 9, missing));
        }
}

TEST(node_features_of_many_subspaces_match_the_definition) {
    Random random(35);
    const Weighted model(random, 1, 1, {9, 3, 2, 9, 8}, 12);
    CHECK(group_nodes(model.forest(), 0).subspaces.size() > 50);
    check_against_definition(model, awkward_rows(random, 100, 12, 0.1));
    check_against_definition(model, awkward_rows(random, 100, 12, 0.0));
}

TEST(node_features_of_every_depth_alone) {
    Random random(31);
    const Matrix whole = awkward_rows(random, 521, 4, 0.0), gaps = awkward_rows(random, 521, 4, 0.1);
    for (int depth = 0; depth <= 6; ++depth) {
        const Weighted model(random, 1, 1, std::vector<int>(12, depth));
        check_against_definition(model, whole);
        check_against_definition(model, gaps);
    }
}

TEST(node_features_for_any_number_of_rows) {
    Random random(32);
    const Weighted model(random, 2, 1, mixed_depths(18));
    for (const index rows : {1, 7, 8, 9, 511, 512, 513, 1024})
        check_against_definition(model, awkward_rows(random, rows, 4, 0.0));
    CHECK(fast_columns(model.forest(), Matrix(0, 4).table(), 2).empty());
}

TEST(node_features_do_not_depend_on_threads) {
    Random random(33);
    const Forest forest = Weighted(random, 2, 2, mixed_depths(40)).forest();
    for (const double missing : {0.0, 0.001}) {
        const Matrix x = awkward_rows(random, 2700, 4, missing);
        const std::vector<double> one = fast_columns(forest, x.table(), 1);
        for (const int n_threads : {2, 5}) CHECK_SAME_BITS(fast_columns(forest, x.table(), n_threads), one);
    }
}

// The result of a row must not change either if another row of its block has a missing value, which selects other code.
TEST(node_features_of_a_row_do_not_depend_on_other_rows) {
    Random random(34);
    const Forest forest = Weighted(random, 1, 1, mixed_depths(60)).forest();
    Matrix x = awkward_rows(random, 600, 4, 0.0);
    const std::vector<double> before = fast_columns(forest, x.table(), 1);
    x(100, 1) = kNan;
    std::vector<double> after = fast_columns(forest, x.table(), 1);
    for (index k = 100; k < index(after.size()); k += 600) after[k] = before[k];
    CHECK_SAME_BITS(after, before);
}

TEST(node_features_sum_to_the_trees) {
    Random random(35);
    const Forest forest = Weighted(random, 1, 1, mixed_depths(90)).forest();
    const Matrix x = awkward_rows(random, 300, 4, 0.02);
    std::vector<double> sum(300, forest.offset()[0]), predicted(300);
    const std::vector<double> columns = fast_columns(forest, x.table(), 1);
    for (std::size_t k = 0; k < columns.size(); ++k) sum[k % 300] += columns[k];
    Prediction(borrow(forest), 1).evaluate(x.table(), predicted.data(), 1);
    CHECK_CLOSE(sum, predicted, 1e-13);
}

TEST(inner_values_are_weighted_means_of_their_children) {
    Trees trees;
    trees.add({split(0, 0.0, 2, 1), split(0, 1.0, 3, 4), leaf({1}), leaf({2}), leaf({6})});
    const auto root = [&](std::vector<double> weight) {
        TreeArrays arrays = trees.arrays();
        arrays.weight = weight.data();
        return Forest(arrays).values(0)[0];
    };
    CHECK(root({8, 4, 4, 3, 1}) == 2.0);  // the right child has (3 * 2 + 6) / 4 = 3
    CHECK(root({8, 4, 12, 3, 1}) == 1.5);
    CHECK(root({0, 0, 0, 0, 0}) == 2.5);  // 4 and 1
    CHECK(root({1, 3, -1, 2, 2}) == 2.5);
    CHECK(trees.forest().values(0)[0] == 2.5);
}

TEST(a_long_chain_has_one_step_function) {
    constexpr int length = 3000;
    const Trees trees = Trees().add(chain(length));
    const Forest forest = trees.forest();
    Matrix x(20, 1);
    for (index i = 0; i < 20; ++i) x(i, 0) = double(i * length / 19);
    const std::vector<double> columns = fast_columns(forest, x.table(), 1);
    CHECK(columns.size() == 40);
    for (index i = 0; i < 20; ++i) CHECK_CLOSE(columns[i] + columns[20 + i], x(i, 0), 1e-13);
}

TEST(node_features_of_no_trees_are_none) {
    const Trees trees = Trees(2, 2, 1).add({leaf({1.5})}, 1);  // none for the first output
    CHECK(fast_columns(trees.forest(), Matrix(2, 2).table(), 1) == (std::vector<double>{1.5, 1.5}));
}

// One column for each member and subspace; the values of roots are part of the constants.
TEST(tree_columns_by_node_match_the_definition) {
    Random random(36);
    const std::vector<Weighted> models = {Weighted(random, 2, 1, mixed_depths(30)),
                                          Weighted(random, 2, 2, {1, 0, 2, 5})};
    const Matrix x = awkward_rows(random, 300, 4, 0.0);
    const index output = 1;
    std::vector<std::shared_ptr<const Forest>> forests;
    for (const Weighted& model : models) forests.push_back(std::make_shared<const Forest>(model.forest()));
    const TreeColumns trees(parts(forests, output, Sorting::by_node), 1);
    std::vector<Columns> slow;
    std::size_t columns = 0;
    for (std::size_t i = 0; i < models.size(); ++i) {
        slow.push_back(slow_columns(models[i], x, output));
        columns += slow[i].size() - 1;
        CHECK_CLOSE(trees.constants()[i], models[i].trees.offset[output] + slow[i].at({0, {}})[0], 1e-13);
    }
    CHECK(trees.columns().size() == columns);

    const TreeDictionary dictionary(trees, x.table());
    std::vector<double> actual(columns * 300), desired;
    dictionary.fill({0, 1, 300, nullptr}, actual.data(), 300);
    for (const auto& [subspace, member] : trees.columns()) {
        const Subspace& u = trees.subspaces()[subspace];
        const std::vector<double>& column = slow[member].at({u.size(), u});
        desired.insert(desired.end(), column.begin(), column.end());
    }
    CHECK_CLOSE(actual, desired, 1e-13);

    check_single_columns(trees, x, actual);
}

TEST(terms_of_two_variables_join_one_of_three_in_trees_of_many) {
    Random random(38);
    for (const index features : {4, 7, 8}) {
        Weighted model(random, 1, 1, mixed_depths(40), features);
        if (features == 8) model.trees.of_feature = {2, 0, 2, 1, 3, 1, 4, 0};  // several columns of a variable
        const Matrix x = awkward_rows(random, 300, features, 0.02);
        Columns joined;
        for (index t = 0; t < model.trees.n_trees(); ++t) {
            if (model.trees.variables(t).size() <= kFewVariables) continue;
            const Columns own = slow_columns(model, x, 0, t);
            for (const auto& [key, column] : own) {
                auto to = key;
                for (auto other = own.rbegin(); other != own.rend() && key.first == 2; ++other)
                    if (other->first.first == 3 && contains(other->first.second, key.second)) to = other->first;
                std::vector<double>& sum = joined.try_emplace(to, std::vector<double>(300)).first->second;
                for (index i = 0; i < 300; ++i) sum[i] += column[i];
            }
        }
        const auto forest = std::make_shared<const Forest>(model.forest());
        const TreeColumns trees({{forest, 0, Sorting::by_node, TreeChoice::of_many_variables}}, 1);
        std::vector<double> actual(trees.columns().size() * 300), desired;
        TreeDictionary(trees, x.table()).fill({0, 1, 300, nullptr}, actual.data(), 300);
        CHECK_CLOSE(trees.constants()[0], joined.at({0, {}})[0], 1e-13);
        joined.erase({0, {}});
        for (const auto& [key, column] : joined) desired.insert(desired.end(), column.begin(), column.end());
        CHECK(trees.subspaces().size() == joined.size());
        CHECK_CLOSE(actual, desired, 1e-13);
        check_single_columns(trees, x, actual);
    }
}

}  // namespace fasthdmr
