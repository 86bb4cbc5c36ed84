#include "dictionary/tree_columns.hpp"

#include <cmath>

#include "evaluated.hpp"
#include "harness.hpp"
#include "trees.hpp"

namespace fasthdmr {

namespace {

std::shared_ptr<const Forest> shared(const Trees& trees) { return std::make_shared<const Forest>(trees.arrays()); }

// Two forests of three variables and two outputs, with depths 0 to 2 and 0 to 5.
struct Members {
    Trees first{3, 2, 1}, second{3, 2, 2};
    Matrix x{kBlockRows + 76, 3};

    explicit Members(std::uint64_t seed) {
        Random random(seed);
        TreeGrower narrow(random, 3, 1, awkward_values()), wide(random, 3, 2, awkward_values());
        for (int t = 0; t < 30; ++t) first.add(narrow.grow(t % 3), t / 3 % 2);
        for (int t = 0; t < 30; ++t) second.add(wide.grow(t % 6));
        first.offset = {0.5, -0.5};
        second.offset = {2.0, 3.0};
        for (double& v : x.values) v = random.one_of(awkward_values());
    }
    TreeColumns columns(index output) const {
        return TreeColumns(parts({shared(first), shared(second)}, output, Sorting::by_tree), 1);
    }

    double slow_column(const TreeColumns::Column& column, const Subspace& u, index i, index output) const {
        const Trees& trees = column.member == 0 ? first : second;
        double sum = 0.0;
        for (index t = 0; t < trees.n_trees(); ++t)
            if (trees.variables(t) == u) sum += trees.value_at(t, x, i, output);
        return sum;
    }
};

}  // namespace

TEST(tree_columns_are_one_a_member_and_subspace) {
    const Members members(20);
    for (index output = 0; output < 2; ++output) {
        const TreeColumns trees = members.columns(output);
        CHECK(trees.input_columns() == 3);
        for (std::size_t s = 0; s < trees.subspaces().size(); ++s) {
            CHECK(!trees.subspaces()[s].empty());
            if (s > 0) CHECK(precedes(trees.subspaces()[s - 1], trees.subspaces()[s]));
        }
        const auto& columns = trees.columns();
        for (std::size_t j = 1; j < columns.size(); ++j)
            CHECK(columns[j - 1].subspace < columns[j].subspace ||
                  (columns[j - 1].subspace == columns[j].subspace && columns[j - 1].member < columns[j].member));

        const TreeDictionary dictionary(trees, members.x.table());
        CHECK(dictionary.columns() == index(columns.size()) && dictionary.subspaces() == trees.subspaces());
        const std::vector<index> list = {699, 0, 5, 5, 311};
        for (const Rows& rows :
             {Rows{3, 7, 90, nullptr}, Rows{0, 1, 5, list.data()}, Rows{0, 1, kBlockRows, nullptr}}) {
            const index leading = rows.count + 2;
            std::vector<double> actual(columns.size() * leading, 7.0), desired(columns.size() * leading, 7.0);
            dictionary.fill(rows, actual.data(), leading);
            for (std::size_t j = 0; j < columns.size(); ++j)
                for (index r = 0; r < rows.count; ++r)
                    desired[j * leading + r] =
                        members.slow_column(columns[j], trees.subspaces()[columns[j].subspace], rows[r], output);
            CHECK_CLOSE(actual, desired, 1e-13);
        }
    }
}

// The constants and the columns of a member sum to its prediction.
TEST(tree_columns_sum_to_the_model) {
    const Members members(21);
    const index output = 1, rows = members.x.rows;
    const TreeColumns trees = members.columns(output);
    Components all;  // one component for each member
    for (index member = 0; member < 2; ++member) {
        all.column.push_back(0);
        all.weight.push_back(trees.constants()[member]);
        for (std::size_t j = 0; j < trees.columns().size(); ++j)
            if (trees.columns()[j].member == member) {
                all.column.push_back(index(j) + 1);
                all.weight.push_back(1.0);
            }
        all.begin.push_back(index(all.column.size()));
    }
    std::vector<double> actual(2 * rows), desired;
    evaluate(trees, members.x.table(), all, actual.data(), 1);
    for (const Trees* model : {&members.first, &members.second}) {
        std::vector<double> predicted(rows * 2);
        Prediction(shared(*model), 1).evaluate(members.x.table(), predicted.data(), 1);
        desired.insert(desired.end(), predicted.begin() + output * rows, predicted.end());
    }
    CHECK_CLOSE(actual, desired, 1e-13);
    for (const int n_threads : {2, 5}) {
        std::vector<double> threaded(2 * rows);
        evaluate(trees, members.x.table(), all, threaded.data(), n_threads);
        CHECK_SAME_BITS(threaded, actual);
    }
}

TEST(evaluate_computes_only_the_columns_in_use) {
    const Members members(23);
    const TreeColumns trees = members.columns(0);
    const index last = index(trees.columns().size());
    const Components components{{0, 2, 3}, {last, 3, 3}, {0.5, -2.0, 1.0}};
    std::vector<double> actual(2 * members.x.rows), first, second;
    evaluate(trees, members.x.table(), components, actual.data(), 2);
    const auto at = [&](index j, index i) {
        const auto& column = trees.columns()[j - 1];
        return members.slow_column(column, trees.subspaces()[column.subspace], i, 0);
    };
    for (index i = 0; i < members.x.rows; ++i) {
        first.push_back(0.5 * at(last, i) - 2.0 * at(3, i));
        second.push_back(at(3, i));
    }
    first.insert(first.end(), second.begin(), second.end());
    CHECK_CLOSE(actual, first, 1e-13);
}

TEST(tree_columns_may_be_none) {
    Trees trees(2, 1, 1);
    trees.add({leaf({1.5})}).add({leaf({2.0})});
    trees.offset = {0.25};
    const TreeColumns columns(parts({shared(trees)}, 0, Sorting::by_tree), 1);
    CHECK(columns.columns().empty() && columns.subspaces().empty());
    CHECK(columns.constants() == std::vector<double>{3.75});
    Components none;
    evaluate(columns, Matrix(3, 2).table(), none, nullptr, 2);
    Components constant{{0, 1, 1}, {0}, {3.75}};  // and a component without terms
    std::vector<double> out(6, 9.0);
    evaluate(columns, Matrix(3, 2).table(), constant, out.data(), 2);
    CHECK(out == (std::vector<double>{3.75, 3.75, 3.75, 0.0, 0.0, 0.0}));
}

TEST(array_dictionary_copies_columns) {
    Random random(22);
    Matrix x(40, 3);
    for (double& v : x.values) v = random.uniform();
    const StoredTable stored = store<double>(x, -5 * 8, 8);
    const ArrayDictionary dictionary(stored.table, {{0}, {1}}, {0, 0, 1});
    CHECK(dictionary.columns() == 3 && dictionary.column_subspace() == (std::vector<index>{0, 0, 1}));
    std::vector<double> out(3 * 4, 0.0);
    dictionary.fill({1, 9, 4, nullptr}, out.data(), 4);
    for (index j = 0; j < 3; ++j)
        for (index r = 0; r < 4; ++r) CHECK(out[j * 4 + r] == x(1 + 9 * r, j));
}

TEST(dictionaries_reject_wrong_shapes) {
    const Matrix x(4, 3);
    CHECK_THROWS(Error, "every column needs a subspace", ArrayDictionary(x.table(), {{0}}, {0, 0}));
    const auto three = shared(Trees(3, 1, 1)), two = shared(Trees(2, 1, 1)), outputs = shared(Trees(3, 2, 1));
    CHECK_THROWS(Error, "different numbers of features", TreeColumns(parts({three, two}, 0, Sorting::by_tree), 1));
    CHECK_THROWS(Error, "no such output: 1", TreeColumns(parts({outputs, three}, 1, Sorting::by_tree), 1));
    const TreeColumns columns(parts({two}, 0, Sorting::by_tree), 1);
    CHECK_THROWS(Error, "another number of columns", TreeDictionary(columns, x.table()));
    CHECK_THROWS(Error, "another number of columns", evaluate(columns, x.table(), {}, nullptr, 1));
}

}  // namespace fasthdmr
