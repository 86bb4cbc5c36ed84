#include "product_measure/components.hpp"

#include <numeric>

#include "harness.hpp"
#include "product_measure/variance.hpp"
#include "trees.hpp"

namespace fasthdmr {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
using Forests = std::vector<std::shared_ptr<const Forest>>;

// Trees, the rows and weights of a measure, and the support of the product of its marginals: all combinations of
// values.
struct Case {
    Trees trees;
    Matrix x;
    std::vector<double> weight;
    std::vector<double> factors;

    Case(Random& random, index features, index rows, double missing, const std::vector<int>& depths)
        : trees(features, 1, 1), x(rows, features) {
        const std::vector<double> pool = awkward_values();
        TreeGrower grower(random, features, 1, pool);
        for (const int depth : depths) {
            trees.add(grower.grow(depth));
            factors.push_back(random.uniform(0.5, 2.0));
        }
        for (double& v : x.values) v = random.happens(missing) ? kNan : random.one_of(pool);
        for (index i = 0; i < rows; ++i) weight.push_back(double(random.below(3) + (i == 0)));
    }

    std::shared_ptr<const Marginals> marginals(const Forests& forests, int n_threads = 1) const {
        return std::make_shared<const Marginals>(forests, x.table(), weight.data(), n_threads);
    }
    ProductTrees product() const {
        const Forests forests{std::make_shared<const Forest>(trees.forest())};
        return ProductTrees(forests, 0, {factors.data()}, marginals(forests));
    }

    double model(const Matrix& at, index i) const {
        double sum = 0.0;
        for (index t = 0; t < trees.n_trees(); ++t) sum += factors[t] * trees.value_at(t, at, i, 0);
        return sum;
    }
};

// Values of a function at all combinations of the rows' values, the last variable fastest.
struct Grid {
    index rows, features;
    std::vector<double> f;

    index points() const { return index(f.size()); }
    index digit(index point, index variable) const {
        for (index v = features - 1; v > variable; --v) point /= rows;
        return point % rows;
    }
    Matrix at(const Matrix& x) const {
        Matrix result(points(), features);
        for (index p = 0; p < points(); ++p)
            for (index v = 0; v < features; ++v) result(p, v) = x(digit(p, v), v);
        return result;
    }
    // Replaces the function by its mean over a variable.
    void average(index variable, const std::vector<double>& weight) {
        const double total = std::accumulate(weight.begin(), weight.end(), 0.0);
        index stride = 1;
        for (index v = features - 1; v > variable; --v) stride *= rows;
        for (index p = 0; p < points(); ++p) {
            if (digit(p, variable) != 0) continue;
            double mean = 0.0;
            for (index i = 0; i < rows; ++i) mean += weight[i] / total * f[p + i * stride];
            for (index i = 0; i < rows; ++i) f[p + i * stride] = mean;
        }
    }
};

Grid grid_of(const Case& model) {
    Grid grid{model.x.rows, model.x.columns, {}};
    grid.f.resize(index(std::pow(double(grid.rows), double(grid.features)) + 0.5));
    const Matrix at = grid.at(model.x);
    for (index p = 0; p < grid.points(); ++p) grid.f[p] = model.model(at, p);
    return grid;
}

// f_u by its definition: the mean over the other variables, then every variable of u less its mean.
Grid component(const Case& model, const Grid& whole, const Subspace& u) {
    Grid result = whole;
    for (index v = 0; v < whole.features; ++v) {
        const bool own = std::find(u.begin(), u.end(), v) != u.end();
        Grid mean = result;
        mean.average(v, model.weight);
        for (index p = 0; p < whole.points(); ++p) result.f[p] = own ? result.f[p] - mean.f[p] : mean.f[p];
    }
    return result;
}

double mean_square(const Case& model, Grid grid) {
    for (double& v : grid.f) v *= v;
    for (index v = 0; v < grid.features; ++v) grid.average(v, model.weight);
    return grid.f[0];
}

std::vector<double> evaluated(const ProductComponents& components, const Table& x, int n_threads) {
    Components single;
    for (index c = 0; c < components.count(); ++c) {
        single.column.push_back(c + 1);
        single.weight.push_back(1.0);
        single.begin.push_back(c + 1);
    }
    std::vector<double> out(components.count() * x.rows, kNan);
    evaluate(components, x, single, out.data(), n_threads);
    return out;
}

void check_against_grid(const Case& model, std::uint64_t table_bytes) {
    const Grid grid = grid_of(model);
    const Matrix at = grid.at(model.x);
    const ProductTrees trees = model.product();
    const ProductComponents components(trees, grid.features, {}, table_bytes, 2);
    const std::vector<double> values = evaluated(components, at.table(), 2), variances = components.variances(2);
    std::vector<double> rest = grid.f;
    for (index c = 0; c < components.count(); ++c) {
        const Grid desired = component(model, grid, components.subspaces()[c]);
        const std::vector<double> actual(values.begin() + c * grid.points(), values.begin() + (c + 1) * grid.points());
        double scale = 0.0;
        for (index p = 0; p < grid.points(); ++p) {
            scale = std::fmax(scale, std::abs(grid.f[p]));
            rest[p] -= actual[p];
        }
        for (index p = 0; p < grid.points(); ++p) CHECK(std::abs(actual[p] - desired.f[p]) <= 1e-13 * scale);
        CHECK(std::abs(variances[c] - mean_square(model, desired)) <= 1e-13 * scale * scale);
    }
    for (double& v : rest) v -= trees.mean();
    for (const double v : rest) CHECK(std::abs(v) <= 1e-13 * double(model.trees.n_trees()));
    const Grid centred = [&] {
        Grid result = grid;
        for (double& v : result.f) v -= trees.mean();
        return result;
    }();
    const double total = mean_square(model, centred);
    CHECK_CLOSE(total_variance(trees, components.subspaces(), variances, 2), total, 1e-12);
    CHECK_CLOSE(total_variance(trees, {}, {}, 2), total, 1e-12);
    CHECK_CLOSE(tree_variance(trees, 2), total, 1e-12);
    CHECK(estimated_visits(trees) > 0.0);
}

std::vector<int> depths(int count) {
    std::vector<int> result;
    for (int t = 0; t < count; ++t) result.push_back(1 + t % 6);
    return result;
}

}  // namespace

TEST(product_components_match_the_definition) {
    Random random(50);
    for (const double missing : {0.0, 0.2, 1.0})
        for (const std::uint64_t table_bytes : {std::uint64_t(0), std::uint64_t(4000), kProductTableBytes}) {
            check_against_grid(Case(random, 3, 6, missing, depths(12)), table_bytes);
            check_against_grid(Case(random, 1, 8, missing, {1, 2, 0}), table_bytes);
            check_against_grid(Case(random, 2, 1, missing, {2, 3}), table_bytes);
        }
}

TEST(product_components_of_splits_by_sets) {
    Random random(55);
    for (const double missing : {0.0, 0.2})
        for (const std::uint64_t table_bytes : {std::uint64_t(0), kProductTableBytes})
            for (const index features : {1, 3}) {
                Case model(random, features, 6, missing, depths(12));
                model.trees.split_by_sets(random, awkward_values());
                check_against_grid(model, table_bytes);
            }
}

TEST(product_components_do_not_depend_on_threads) {
    Random random(51);
    const Case model(random, 5, 3000, 0.1, depths(150));
    const Forests forests{std::make_shared<const Forest>(model.trees.forest())};
    std::vector<double> values, variances;
    double total = 0.0;
    for (const int n_threads : {1, 2, 5}) {
        const ProductTrees trees(forests, 0, {model.factors.data()}, model.marginals(forests, n_threads));
        const ProductComponents components(trees, 3, {}, 100'000, n_threads);
        CHECK(0 < components.tables() && components.tables() < 15);
        const std::vector<double> again = evaluated(components, model.x.table(), n_threads);
        const std::vector<double> spread = components.variances(n_threads);
        const double sum = tree_variance(trees, n_threads);
        if (n_threads > 1) {
            CHECK_SAME_BITS(again, values);
            CHECK_SAME_BITS(spread, variances);
            CHECK(sum == total);
            CHECK_CLOSE(total_variance(trees, components.subspaces(), spread, n_threads), total, 1e-12);
        }
        values = again;
        variances = spread;
        total = sum;
    }
}

// More boxes than in a batch of pairs. The table of the same boxes is divided at their ends.
TEST(many_boxes_have_the_variance_of_their_table) {
    Random random(52);
    const Case model(random, 2, 500, 0.05, std::vector<int>(200, 4));
    const ProductTrees trees = model.product();
    const ProductComponents lists(trees, 2, {}, 0, 2), tables(trees, 2, {}, kProductTableBytes, 2);
    CHECK(lists.tables() == 0);
    CHECK(tables.tables() == 3);
    CHECK_CLOSE(lists.variances(2), tables.variances(2), 1e-12);
    CHECK_CLOSE(evaluated(lists, model.x.table(), 1), evaluated(tables, model.x.table(), 1), 1e-11);
}

// Components of three and more variables have several tables each.
TEST(box_tables_equal_lists_of_boxes) {
    Random random(57);
    for (const double missing : {0.0, 0.1}) {
        const Case model(random, 5, 300, missing, std::vector<int>(60, 5));
        const ProductTrees trees = model.product();
        const ProductComponents lists(trees, 5, {}, 0, 2), tables(trees, 5, {}, kProductTableBytes, 2);
        CHECK(lists.tables() == 0);
        CHECK(tables.tables() > 5 + 10);  // some of three and more variables too
        CHECK_CLOSE(lists.variances(2), tables.variances(2), 1e-12);
        CHECK_CLOSE(evaluated(lists, model.x.table(), 1), evaluated(tables, model.x.table(), 1), 1e-11);
    }
}

TEST(boxes_of_many_variables_have_no_table) {
    BoxList boxes;
    boxes.order = kMostTableVariables + 1;
    const Trees trees = Trees().add({split(0, 0.0, 1, 2), leaf({1}), leaf({2})});
    const Forests forests{std::make_shared<const Forest>(trees.forest())};
    const Marginals marginals(forests, Matrix(2, 1).table(), nullptr, 1);
    CHECK(tables_of(boxes, marginals).empty());
}

TEST(chosen_subspaces_alone_are_kept) {
    Random random(53);
    const Case model(random, 4, 20, 0.0, depths(40));
    const ProductTrees trees = model.product();
    const ProductComponents some(trees, 3, std::vector<Subspace>{{0, 2}, {1, 2, 3}}, kProductTableBytes, 1);
    CHECK(some.subspaces() == (std::vector<Subspace>{{0}, {1}, {2}, {3}, {0, 2}, {1, 2, 3}}));
    CHECK_CLOSE(total_variance(trees, some.subspaces(), some.variances(1), 1), tree_variance(trees, 1), 1e-12);
}

TEST(trees_with_factor_zero_are_left_out) {
    Random random(54);
    Case model(random, 3, 10, 0.0, {2, 2, 2});
    model.factors = {0.0, 1.0, 0.0};
    CHECK(model.product().count() == 1);
    model.factors = {0.0, 0.0, 0.0};
    const ProductTrees none = model.product();
    CHECK(none.mean() == 0.0);
    const ProductComponents components(none, 3, {}, kProductTableBytes, 1);
    CHECK(components.count() == 0);
    CHECK(total_variance(none, {}, {}, 1) == 0.0);
}

TEST(marginals_count_ranks) {
    const Trees trees = Trees().add({split(0, 0.0, 1, 2), leaf({1}), split(0, 2.0, 3, 4), leaf({2}), leaf({3})});
    const Forests forests{std::make_shared<const Forest>(trees.forest())};
    Matrix x(5, 1);
    x.values = {-1.0, 0.0, 1.0, 3.0, kNan};
    const std::vector<double> weight{1, 2, 3, 4, 6};
    const Marginals marginals(forests, x.table(), weight.data(), 1);
    CHECK(marginals.below(0) == (std::vector<double>{0, 3, 6, 10, 16}));
    CHECK(marginals.missing(0) == 6.0 / 16.0);
    CHECK(marginals.probability(0, 1, 3) == 7.0 / 16.0);
    CHECK(marginals.split(0, 0.0f) == 1 && marginals.split(0, 2.0f) == 2);
    CHECK_THROWS(Error, "a weight for every rank", Marginals(std::make_shared<const Comparison>(1), {{0.0f}}, {{1.0}}));
    CHECK_THROWS(Error, "another number of columns", Marginals(forests, Matrix(2, 3).table(), nullptr, 1));
    const Marginals twice = marginals.merged(marginals);
    CHECK(twice.below(0) == (std::vector<double>{0, 6, 12, 20, 32}));
    const Forests others{
        std::make_shared<const Forest>(Trees().add({split(0, 1.0, 1, 2), leaf({1}), leaf({2})}).forest())};
    CHECK_THROWS(Error, "different forests", marginals.merged(Marginals(others, x.table(), nullptr, 1)));
}

TEST(marginals_of_more_rows_than_a_block) {
    const Trees trees = Trees(2, 1, 1).add({split(0, 0.0, 1, 2), leaf({1}), split(1, 2.0, 3, 4), leaf({2}), leaf({3})});
    const Forests forests{std::make_shared<const Forest>(trees.forest())};
    Random random(56);
    Matrix x(2 * kBlockRows + 5, 2);
    for (double& v : x.values) v = random.one_of(std::vector<double>{-1.0, 0.0, 1.0, 3.0, kNan});
    std::vector<double> weight(x.rows);
    for (double& w : weight) w = double(random.below(5));
    const Marginals marginals(forests, x.table(), weight.data(), 2);
    for (const index variable : {0, 1}) {
        double low = 0.0, high = 0.0, missing = 0.0;
        for (index r = 0; r < x.rows; ++r) {
            const double v = x(r, variable);
            (std::isnan(v) ? missing : v <= 2.0 * double(variable) ? low : high) += weight[r];
        }
        CHECK(marginals.below(variable) == (std::vector<double>{0.0, low, low + high, low + high + missing}));
    }
}

TEST(too_many_subspaces_are_refused) {
    Tree chain;
    for (int k = 0; k < 40; ++k) {
        chain.push_back(split(k, 0.0, 2 * k + 1, 2 * k + 2));
        chain.push_back(leaf({double(k)}));
    }
    chain.push_back(leaf({40.0}));
    const Trees trees = Trees(40, 1, 1).add(chain);
    const Forests forests{std::make_shared<const Forest>(trees.forest())};
    Matrix x(2, 40);
    std::fill(x.column(20), x.column(40), 1.0);
    const std::vector<double> one{1.0};
    const auto marginals = std::make_shared<const Marginals>(forests, x.table(), nullptr, 1);
    const ProductTrees product(forests, 0, {one.data()}, marginals);
    CHECK_THROWS(Error, "Take a lower order", ProductComponents(product, 40, {}, kProductTableBytes, 1));
    const ProductComponents pairs(product, 2, {}, kProductTableBytes, 1);
    CHECK(pairs.count() == 40 + 40 * 39 / 2);
    CHECK(total_variance(product, pairs.subspaces(), pairs.variances(1), 1) >= 0.0);
}

// Each computation has its own limit. If one is exceeded, the variance of the whole model is computed by pairs of
// trees.
TEST(computations_beyond_the_limits_are_refused) {
    Random random(55);
    const Case model(random, 3, 20, 0.1, depths(30));
    const ProductTrees trees = model.product();
    const auto components = [&](const Limits& limits) { return ProductComponents(trees, 2, {}, 0, 1, limits); };
    const ProductComponents all = components({});
    const auto total = [&](const Limits& limits) { return total_variance(trees, {{0}}, {0.0}, 1, limits); };
    CHECK_THROWS(Error, "subspaces of the paths", components({1.0, 1e9, 1e9, 1e9}));
    CHECK_THROWS(Error, "boxes of leaves", components({1e9, 1.0, 1e9, 1e9}));
    CHECK_THROWS(Error, "overlaps of intervals", all.variances(1, {1e9, 1e9, 1.0, 1e9}));
    const double sum = tree_variance(trees, 1);
    CHECK(total({}) < sum && total({1.0, 1e9, 1e9, 1e9}) == sum);
    for (const Limits& limits : {Limits{1.0, 1e9, 1e9, 1.0}, Limits{1e9, 1.0, 1e9, 1.0}, Limits{1e9, 1e9, 1.0, 1.0}})
        CHECK_THROWS(Error, "visits of nodes for pairs of trees", total(limits));
    CHECK(total({1e9, 1.0, 1e9, 1e9}) == sum && total({1e9, 1e9, 1.0, 1e9}) == sum);
}

}  // namespace fasthdmr
