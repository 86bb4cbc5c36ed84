#include "hierarchy/hierarchy.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "dictionary/qr_pass.hpp"
#include "harness.hpp"
#include "matrix.hpp"
#include "random.hpp"

namespace fasthdmr {

namespace {

constexpr double kTolerance = 1e-12;

// Columns with their subspaces, and the quantities derived from them.
struct Problem {
    Matrix b;  // without the constant
    std::vector<Subspace> subspaces;
    std::vector<index> column_subspace;
    Triangle r{0};

    Problem(Matrix columns, std::vector<Subspace> all, std::vector<index> labels)
        : b(std::move(columns)), subspaces(std::move(all)), column_subspace(std::move(labels)) {
        const ArrayDictionary dictionary(b.table(), subspaces, column_subspace);
        const std::vector<double> weight(b.rows, 1.0 / double(b.rows));
        r = triangle(dictionary, {b.rows, weight.data()}, 1);
    }
    index p() const { return b.columns + 1; }
    Measure measure() const { return make_measure(r.data(), p(), subspaces, column_subspace, kTolerance); }

    double column(index i, index j) const { return j == 0 ? 1.0 : b(i, j - 1); }
    double scale(index j) const {
        double largest = 0.0;
        for (index i = 0; i < b.rows; ++i) largest = std::max(largest, std::abs(column(i, j)));
        return largest;
    }
    bool is_lower(index j, const Subspace& u) const {
        if (j == 0) return true;
        const Subspace& v = subspaces[column_subspace[j - 1]];
        return v.size() < u.size() && std::includes(u.begin(), u.end(), v.begin(), v.end());
    }
};

// The values of a linear combination of the columns at all rows.
std::vector<double> values(const Problem& problem, const double* coefficients) {
    std::vector<double> out(problem.b.rows, 0.0);
    for (index i = 0; i < problem.b.rows; ++i)
        for (index j = 0; j < problem.p(); ++j) out[i] += coefficients[j] * problem.column(i, j);
    return out;
}

std::vector<std::vector<double>> component_values(const Problem& problem, const Decomposition& d) {
    std::vector<std::vector<double>> out;
    for (index s = 0; s < d.components.count(); ++s) {
        std::vector<double> dense(problem.p(), 0.0);
        for (index e = d.components.begin[s]; e < d.components.begin[s + 1]; ++e)
            dense[d.components.column[e]] += d.components.weight[e];
        out.push_back(values(problem, dense.data()));
    }
    return out;
}

double mean_product(const std::vector<double>& a, const std::vector<double>& b) {
    DoubleDouble sum, mean_a, mean_b;
    for (std::size_t i = 0; i < a.size(); ++i) mean_a += a[i], mean_b += b[i];
    mean_a /= double(a.size()), mean_b /= double(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - mean_a) * (b[i] - mean_b);
    return double(sum / double(a.size()));
}

double largest(const std::vector<double>& x) {
    double size = 0.0;
    for (const double v : x) size = std::max(size, std::abs(v));
    return size;
}

// The properties of every decomposition: components sum to f, are orthogonal to the columns of all proper subsets, and
// have the stated variances and covariances. The tolerance is relative to f, and larger for ill-conditioned problems.
void check_properties(const Problem& problem, const std::vector<double>& beta, double tolerance) {
    const Decomposition d = top_down(problem.measure(), beta.data(), 1);
    const std::vector<double> f = values(problem, beta.data());
    const auto components = component_values(problem, d);
    const double size = largest(f);

    std::vector<double> sum(problem.b.rows, d.constant);
    for (const auto& f_u : components)
        for (index i = 0; i < problem.b.rows; ++i) sum[i] += f_u[i];
    CHECK_CLOSE(sum, f, tolerance);

    for (std::size_t s = 0; s < components.size(); ++s)
        for (index j = 0; j < problem.p(); ++j) {
            if (!problem.is_lower(j, problem.subspaces[s])) continue;
            double product = 0.0;
            for (index i = 0; i < problem.b.rows; ++i) product += components[s][i] * problem.column(i, j);
            CHECK(std::abs(product) <= tolerance * problem.b.rows * size * problem.scale(j));
        }

    for (std::size_t s = 0; s < components.size(); ++s) {
        CHECK(std::abs(d.variance[s] - mean_product(components[s], components[s])) <= tolerance * size * size);
        CHECK(std::abs(d.covariance[s] - mean_product(components[s], f)) <= tolerance * size * size);
    }
    CHECK(std::abs(d.total - mean_product(f, f)) <= tolerance * size * size);

    // The paper's form.
    const index p = problem.p();
    Matrix a(p, p);
    std::vector<double> nu(p);
    eta_matrix(problem.measure(), a.values.data(), 1);
    solve_nu(problem.measure(), a.values.data(), beta.data(), nu.data());
    for (index j = 0; j < p; ++j) {
        CHECK(a(j, j) == 1.0);
        for (index i = 0; i < p; ++i)
            if (i != j && (j == 0 || !problem.is_lower(i, problem.subspaces[problem.column_subspace[j - 1]])))
                CHECK(a(i, j) == 0.0);
    }
    std::vector<double> again(p, 0.0);
    for (index j = 0; j < p; ++j)
        for (index i = 0; i <= j; ++i) again[i] += a(i, j) * nu[j];
    CHECK_CLOSE(again, beta, tolerance);
    CHECK(std::abs(nu[0] - d.constant) <= tolerance * size);
    for (std::size_t s = 0; s < components.size(); ++s) {
        std::vector<double> coefficients(p, 0.0);
        for (index j = 1; j < p; ++j)
            if (problem.column_subspace[j - 1] == index(s))
                for (index i = 0; i <= j; ++i) coefficients[i] += nu[j] * a(i, j);
        const std::vector<double> f_u = values(problem, coefficients.data());
        for (index i = 0; i < problem.b.rows; ++i) CHECK(std::abs(f_u[i] - components[s][i]) <= tolerance * size);
    }
}

// Correlated variables, with one or several columns for each subspace.
Problem polynomial(index rows, std::uint64_t seed) {
    Random random(seed);
    Matrix b(rows, 11);
    for (index i = 0; i < rows; ++i) {
        const double common = random.uniform(-1.0, 1.0), x = common + random.uniform(), y = common - random.uniform(),
                     z = random.uniform() + 0.5 * x;
        const double row[] = {x, x * x, y, y * y, y * y * y, z, x * y, x * y * y, x * z, y * z, x * y * z};
        for (index j = 0; j < 11; ++j) b(i, j) = row[j];
    }
    return {b, {{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}}, {0, 0, 1, 1, 1, 2, 3, 3, 4, 5, 6}};
}

std::vector<double> random_beta(const Problem& problem, std::uint64_t seed) {
    Random random(seed);
    std::vector<double> beta(problem.p());
    for (double& v : beta) v = random.uniform(-1.0, 1.0);
    return beta;
}

}  // namespace

TEST(hierarchy_has_its_defining_properties) {
    const Problem problem = polynomial(400, 40);
    CHECK(problem.measure().columns.rank() == 12);
    for (std::uint64_t seed = 0; seed < 5; ++seed) check_properties(problem, random_beta(problem, seed), 1e-10);
}

// x y z on a grid: f_u = mean^(3 - |u|) times the product of (x_i - mean), with variance mean^(6 - 2|u|) var^|u|.
TEST(hierarchy_of_a_product_on_a_grid) {
    Matrix b(64, 7);
    for (index i = 0; i < 64; ++i) {
        const double x = double(i % 4), y = double(i / 4 % 4), z = double(i / 16),
                     row[] = {x, y, z, x * y, x * z, y * z, x * y * z};
        for (index j = 0; j < 7; ++j) b(i, j) = row[j];
    }
    const Problem problem(b, {{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}}, {0, 1, 2, 3, 4, 5, 6});
    const std::vector<double> beta = {0, 0, 0, 0, 0, 0, 0, 1};
    check_properties(problem, beta, 1e-12);
    const Decomposition d = top_down(problem.measure(), beta.data(), 1);
    const double mean = 1.5, variance = 1.25;
    CHECK_CLOSE(d.constant, std::pow(mean, 3), 1e-13);
    std::vector<double> expected;
    for (const Subspace& u : problem.subspaces)
        expected.push_back(std::pow(mean, 6 - 2 * double(u.size())) * std::pow(variance, double(u.size())));
    CHECK_CLOSE(d.variance, expected, 1e-13);
    CHECK_CLOSE(d.covariance, expected, 1e-13);  // independent variables: Cov(f_u, f) = Var(f_u)
    const auto components = component_values(problem, d);
    for (index i = 0; i < 64; ++i) {
        const double x = b(i, 0) - mean, y = b(i, 1) - mean, z = b(i, 2) - mean;
        CHECK(std::abs(components[0][i] - mean * mean * x) < 1e-12);
        CHECK(std::abs(components[3][i] - mean * x * y) < 1e-12);
        CHECK(std::abs(components[6][i] - x * y * z) < 1e-12);
    }
}

TEST(hierarchy_does_not_depend_on_threads) {
    const Problem problem = polynomial(300, 41);
    const std::vector<double> beta = random_beta(problem, 1);
    const auto solve = [&](int n_threads) {
        const Decomposition d = top_down(problem.measure(), beta.data(), n_threads);
        Matrix a(problem.p(), problem.p());
        eta_matrix(problem.measure(), a.values.data(), n_threads);
        std::vector<double> all = std::move(a.values);
        for (const auto* part : {&d.components.weight, &d.variance, &d.covariance})
            all.insert(all.end(), part->begin(), part->end());
        all.push_back(d.constant);
        return all;
    };
    const std::vector<double> one = solve(1);
    for (const int n_threads : {2, 5}) CHECK_SAME_BITS(solve(n_threads), one);
}

TEST(hierarchy_with_duplicate_and_dependent_columns) {
    const Problem full = polynomial(200, 42);
    Matrix b(200, 8);  // x, x, 3 - 2x, y, x y, x y, x + y^2 - 1, x y
    for (index i = 0; i < 200; ++i) {
        const double x = full.b(i, 0), y = full.b(i, 2);
        const double row[] = {x, x, 3 - 2 * x, y, x * y, x * y, x + y * y - 1, x * y};
        for (index j = 0; j < 8; ++j) b(i, j) = row[j];
    }
    const Problem problem(b, {{0}, {1}, {0, 1}, {0, 1, 2}}, {0, 0, 0, 1, 2, 2, 2, 3});
    CHECK(problem.measure().columns.rank() == 5);  // 1, x, y, x y, y^2
    for (std::uint64_t seed = 0; seed < 3; ++seed) check_properties(problem, random_beta(problem, seed), 1e-10);
    // The last group lies in the span of a lower one, so its component is zero.
    const Decomposition d = top_down(problem.measure(), random_beta(problem, 7).data(), 1);
    CHECK(d.variance[3] < 1e-25 && d.variance[2] > 1e-3);
}

TEST(hierarchy_with_constant_columns) {
    const Problem full = polynomial(200, 43);
    Matrix b(200, 5);
    for (index i = 0; i < 200; ++i) {
        const double x = full.b(i, 0), y = full.b(i, 2), row[] = {3.7, x, 0.0, x * y, 1e6 / 3.0};
        for (index j = 0; j < 5; ++j) b(i, j) = row[j];
    }
    const Problem problem(b, {{0}, {1}, {0, 1}}, {0, 0, 1, 2, 2});
    CHECK(problem.measure().columns.rank() == 3);
    const std::vector<double> beta = {1.0, 2.0, -1.0, 5.0, 0.5, 1e-6};
    check_properties(problem, beta, 1e-12);
    CHECK(top_down(problem.measure(), beta.data(), 1).variance[1] == 0.0);
}

// For two equal variables only the sum of their components is unique. In the minimum-norm solution they are equal.
TEST(hierarchy_of_equal_variables_is_the_minimum_norm_solution) {
    Random random(44);
    Matrix b(100, 3);
    for (index i = 0; i < 100; ++i) {
        b(i, 0) = b(i, 1) = random.uniform(0.0, 2.0);
        b(i, 2) = b(i, 0) * b(i, 1);
    }
    const Problem problem(b, {{0}, {1}, {0, 1}}, {0, 1, 2});
    const std::vector<double> beta = {0.0, 0.0, 0.0, 1.0};
    check_properties(problem, beta, 1e-12);
    const auto components = component_values(problem, top_down(problem.measure(), beta.data(), 1));
    CHECK_CLOSE(components[0], components[1], 1e-12);
    CHECK(largest(components[0]) > 0.1);
    CHECK(problem.measure().columns.rank() == 3);
}

TEST(hierarchy_with_more_columns_than_rows) {
    for (const index rows : {2, 3, 6, 11}) {
        const Problem problem = polynomial(rows, 45);
        CHECK(problem.measure().columns.rank() == rows);
        check_properties(problem, random_beta(problem, 2), 1e-9);
    }
}

TEST(hierarchy_of_one_row_is_a_constant) {
    const Problem problem = polynomial(1, 46);
    const std::vector<double> beta = random_beta(problem, 3);
    CHECK(problem.measure().columns.rank() == 1);
    check_properties(problem, beta, 1e-12);
    const Decomposition d = top_down(problem.measure(), beta.data(), 1);
    CHECK_CLOSE(d.constant, values(problem, beta.data())[0], 1e-13);
    CHECK(d.total < 1e-25);
}

TEST(hierarchy_of_the_constant_alone) {
    const Problem problem(Matrix(5, 0), {}, {});
    const std::vector<double> beta = {2.5};
    check_properties(problem, beta, 1e-12);
    const Decomposition d = top_down(problem.measure(), beta.data(), 2);
    CHECK(d.constant == 2.5 && d.total == 0.0 && d.components.count() == 0);
    CHECK(problem.measure().columns.rank() == 1);
}

TEST(hierarchy_is_independent_of_the_scale_of_columns) {
    const Problem problem = polynomial(300, 47);
    const std::vector<double> beta = random_beta(problem, 4);
    const std::vector<double> variance = top_down(problem.measure(), beta.data(), 1).variance;
    Matrix b = problem.b;
    std::vector<double> scaled = beta;
    for (index j = 0; j < b.columns; ++j) {
        const double factor = std::array{1e-12, 1e-6, 1.0, 1e6, 1e12}[j % 5];
        for (index i = 0; i < b.rows; ++i) b(i, j) *= factor;
        scaled[j + 1] /= factor;
    }
    const Problem other(b, problem.subspaces, problem.column_subspace);
    CHECK_CLOSE(top_down(other.measure(), scaled.data(), 1).variance, variance, 1e-10);
    CHECK(other.measure().columns.rank() == 12);
}

TEST(measure_rejects_unsorted_subspaces) {
    const std::vector<double> r(9, 0.0);
    const auto make = [&](std::vector<Subspace> subspaces, const std::vector<index>& labels) {
        return make_measure(r.data(), 3, std::move(subspaces), labels, kTolerance);
    };
    CHECK(make({{0}, {1}}, {0, 1}).column_begin == (std::vector<index>{1, 2, 3}));
    CHECK(make({{0}, {1}, {2}}, {0, 2}).column_begin ==
          (std::vector<index>{1, 2, 2, 3}));  // a subspace without columns
    CHECK_THROWS(Error, "one column more", make({{0}}, {0}));
    CHECK_THROWS(Error, "subspaces must be in order", make({{1}, {0}}, {0, 1}));
    CHECK_THROWS(Error, "subspaces must be in order", make({{0}, {0}}, {0, 1}));
    CHECK_THROWS(Error, "subspaces must be in order", make({{0, 1}, {0}}, {0, 1}));
    CHECK_THROWS(Error, "columns must be sorted", make({{0}, {1}}, {1, 0}));
    CHECK_THROWS(Error, "columns must be sorted", make({{0}, {1}}, {0, 2}));
}

}  // namespace fasthdmr
