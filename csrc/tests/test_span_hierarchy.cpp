#include "span_hierarchy.hpp"

#include "dense_spans.hpp"
#include "gram.hpp"
#include "span_evaluate.hpp"

namespace fasthdmr {

namespace {

using Values = std::vector<double>;

// Rows, weights and targets (without the constant), and what follows from them.
struct Problem {
    Spans spans;
    Matrix x, targets;
    Values weight;
    Matrix columns;
    SpanMoments moments;

    Problem(Spans spans_, Matrix x_, Matrix targets_, Values weight_)
        : spans(std::move(spans_)), x(std::move(x_)), targets(std::move(targets_)), weight(std::move(weight_)),
          columns(dense(spans, x)),
          moments(moments_of(spans, x.table(), weight.data(), ArrayTargets(targets.table()), all_pairs(spans), 1)) {}

    Values column(index j) const { return Values(columns.column(j), columns.column(j) + x.rows); }
    Values target(index t) const { return Values(targets.column(t - 1), targets.column(t - 1) + x.rows); }

    double mean(const Values& a) const {
        long double sum = 0.0L, total = 0.0L;
        for (index r = 0; r < x.rows; ++r) sum += static_cast<long double>(weight[r]) * a[r], total += weight[r];
        return double(sum / total);
    }
    double covariance(const Values& a, const Values& b) const {
        const double mean_a = mean(a), mean_b = mean(b);
        Values product(x.rows);
        for (index r = 0; r < x.rows; ++r) product[r] = (a[r] - mean_a) * (b[r] - mean_b);
        return mean(product);
    }

    // Component functions at the rows; with `smooth` false, their own targets are part of them.
    std::vector<Values> components(const Decomposition& d, const OutputPlan& plan) const {
        Values all(d.components.count() * x.rows);
        evaluate(spans, x.table(), d.components, all.data(), 1);
        std::vector<Values> out;
        for (index s = 0; s < d.components.count(); ++s) {
            out.emplace_back(all.begin() + s * x.rows, all.begin() + (s + 1) * x.rows);
            if (plan.own[s] < 0 || plan.smooth) continue;
            const Values own = target(plan.own[s]);
            for (index r = 0; r < x.rows; ++r) out[s][r] += own[r];
        }
        return out;
    }

    bool is_lower(index v, index s) const {
        const Subspace &a = spans.all()[v].subspace, &b = spans.all()[s].subspace;
        return a.size() < b.size() && std::includes(b.begin(), b.end(), a.begin(), a.end());
    }

    // The centred projection of a target on spans, damped as the core does it.
    Values projection(const std::vector<index>& on, index t) const {
        std::vector<index> js;
        for (const index s : on)
            for (index j = 0; j < spans.all()[s].columns; ++j) js.push_back(spans.all()[s].first + j);
        const index n = index(js.size());
        std::vector<Values> centred;
        for (const index j : js) {
            centred.push_back(column(j));
            const double m = mean(centred.back());
            for (double& v : centred.back()) v -= m;
        }
        Buffer<double> g(n * n);
        Values right(n), out(x.rows, 0.0);
        const Values wanted = target(t);
        for (index i = 0; i < n; ++i) {
            right[i] = covariance(centred[i], wanted);
            for (index j = 0; j <= i; ++j) g[i * n + j] = g[j * n + i] = covariance(centred[i], centred[j]);
        }
        const Values a = Gram(g, n, kRidge).solve(right);
        for (index i = 0; i < n; ++i)
            for (index r = 0; r < x.rows; ++r) out[r] += a[i] * centred[i][r];
        return out;
    }
};

// Targets 1 to 5 are of the spans {0}, {1}, {0, 1}, {0, 1, 2} and of more variables, 6 is their sum and a constant.
Problem problem(std::uint64_t seed) {
    const Matrix x = correlated(200, seed);
    Matrix targets(200, 6);
    for (index r = 0; r < 200; ++r) {
        const double a = x(r, 0), b = std::isnan(x(r, 1)) ? -0.5 : x(r, 1), c = x(r, 2);
        const double row[] = {std::sin(5 * a), b > 0.4 ? b * b : -0.2, std::exp(a * b), a * b * c,
                              std::cos(3 * (a + c) * (b + c))};
        targets(r, 5) = 2.0;
        for (index t = 0; t < 5; ++t) targets(r, 5) += targets(r, t) = row[t];
    }
    return {mixed_spans(), x, targets, random_weights(200, seed + 1)};
}

OutputPlan plan(bool smooth, index rest = 5) { return {{1, 2, -1, 3, -1, 4}, rest, 6, smooth}; }

// What the components should sum to.
Values expected_sum(const Problem& p, const OutputPlan& plan) {
    const index n = index(p.spans.all().size());
    Values sum(p.x.rows, p.mean(p.target(plan.whole)));
    const auto add = [&](const Values& part, double shift) {
        for (index r = 0; r < p.x.rows; ++r) sum[r] += part[r] - shift;
    };
    std::vector<index> all;
    for (index s = 0; s < n; ++s) {
        all.push_back(s);
        if (plan.own[s] < 0) continue;
        std::vector<index> on;
        for (index v = 0; v < n; ++v)
            if (v == s || p.is_lower(v, s)) on.push_back(v);
        if (plan.smooth) add(p.projection(on, plan.own[s]), 0.0);
        else add(p.target(plan.own[s]), p.mean(p.target(plan.own[s])));
    }
    if (plan.rest >= 0) add(p.projection(all, plan.rest), 0.0);
    return sum;
}

void check_facts(const Problem& p, const OutputPlan& plan, double tolerance) {
    const Decomposition d = span_top_down(p.spans, p.moments, plan, 1);
    const std::vector<Values> components = p.components(d, plan);
    const Values f = p.target(plan.whole);
    const double variance = p.covariance(f, f);
    CHECK_CLOSE(d.constant, p.mean(f), 1e-13);
    CHECK_CLOSE(d.total, variance, 1e-12);

    Values sum(p.x.rows, d.constant);
    for (std::size_t s = 0; s < components.size(); ++s) {
        CHECK(std::abs(p.mean(components[s])) <= tolerance);
        CHECK(std::abs(d.variance[s] - p.covariance(components[s], components[s])) <= tolerance * variance);
        CHECK(std::abs(d.covariance[s] - p.covariance(components[s], f)) <= tolerance * variance);
        for (index r = 0; r < p.x.rows; ++r) sum[r] += components[s][r];
        for (std::size_t v = 0; v < components.size(); ++v)
            for (index j = 0; p.is_lower(index(v), index(s)) && j < p.spans.all()[v].columns; ++j)
                CHECK(std::abs(p.covariance(components[s], p.column(p.spans.all()[v].first + j))) <= tolerance);
    }
    CHECK_CLOSE(sum, expected_sum(p, plan), tolerance);
}

// A grid of three independent variables, and linear functions of each.
Problem grid() {
    Matrix x(64, 3), targets(64, 1);
    for (index r = 0; r < 64; ++r) {
        x(r, 0) = double(r % 4), x(r, 1) = double(r / 4 % 4), x(r, 2) = double(r / 16);
        targets(r, 0) = x(r, 0) * x(r, 1) * x(r, 2);
    }
    std::vector<Axis> axes;
    for (index v = 0; v < 3; ++v) axes.emplace_back(v, 1, clamped(1, {0.0, 3.0}), false);
    const std::vector<Subspace> subspaces = {{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}};
    return {{axes, subspaces, {{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}}}, x, targets, Values(64, 1.0)};
}

}  // namespace

TEST(span_hierarchy_holds_its_facts) {
    for (const std::uint64_t seed : {100, 110}) {
        const Problem p = problem(seed);
        for (const bool smooth : {true, false})
            for (const index rest : {-1, 5}) check_facts(p, plan(smooth, rest), 1e-9);
    }
}

// x y z: f_u = mean^(3 - |u|) times the product of (x_i - mean) (spec 8), variance mean^(6 - 2|u|) var^|u|.
TEST(span_hierarchy_of_a_product_on_a_grid) {
    const Problem p = grid();
    Values variance;
    for (const Span& span : p.spans.all())
        variance.push_back(std::pow(1.5, 6 - 2 * double(span.subspace.size())) *
                           std::pow(1.25, double(span.subspace.size())));
    const OutputPlan kept{{-1, -1, -1, -1, -1, -1, 1}, -1, 1, false}, smoothed{kept.own, -1, 1, true};
    const OutputPlan rest{std::vector<index>(7, -1), 1, 1, true};
    for (const OutputPlan* plan : {&kept, &smoothed, &rest}) {
        // The ridge takes a share of what is projected: 1e-6 over the products' least eigenvalue, about 1e-2.
        const double tolerance = plan == &kept ? 1e-12 : 1e-3;
        const Decomposition d = span_top_down(p.spans, p.moments, *plan, 1);
        CHECK_CLOSE(d.constant, std::pow(1.5, 3), 1e-13);
        CHECK_CLOSE(d.variance, variance, tolerance);
        CHECK_CLOSE(d.covariance, variance, tolerance);
        const std::vector<Values> components = p.components(d, *plan);
        Values first, pair, triple;
        for (index r = 0; r < 64; ++r) {
            const double x = p.x(r, 0) - 1.5, y = p.x(r, 1) - 1.5, z = p.x(r, 2) - 1.5;
            first.push_back(2.25 * x), pair.push_back(1.5 * x * y), triple.push_back(x * y * z);
        }
        CHECK_CLOSE(components[0], first, tolerance);
        CHECK_CLOSE(components[3], pair, tolerance);
        CHECK_CLOSE(components[6], triple, tolerance);
    }
}

TEST(span_hierarchy_leaves_out_what_nothing_adds_to) {
    const Problem p = problem(120);
    const Decomposition d = span_top_down(p.spans, p.moments, {{-1, 2, -1, -1, -1, -1}, -1, 6, true}, 1);
    CHECK(d.components.count() == 6);
    for (index s = 0; s < 6; ++s) {
        const bool exists = s == 1;
        CHECK((d.components.begin[s + 1] > d.components.begin[s]) == exists && (d.variance[s] > 0) == exists);
    }
    const Decomposition none = span_top_down(p.spans, p.moments, {std::vector<index>(6, -1), -1, 6, true}, 1);
    CHECK(none.components.column.empty() && none.variance == Values(6, 0.0) && none.covariance == Values(6, 0.0));
    CHECK_CLOSE(none.constant, p.mean(p.target(6)), 1e-13);
}

TEST(span_hierarchy_does_not_depend_on_threads) {
    const Problem p = problem(130);
    for (const bool smooth : {true, false}) {
        const auto solve = [&](int n_threads) {
            const Decomposition d = span_top_down(p.spans, p.moments, plan(smooth), n_threads);
            Values all = d.components.weight;
            for (const auto* part : {&d.variance, &d.covariance}) all.insert(all.end(), part->begin(), part->end());
            return all;
        };
        const Values one = solve(1);
        for (const int n_threads : {2, 5}) CHECK_SAME_BITS(solve(n_threads), one);
    }
}

TEST(span_hierarchy_rejects_what_does_not_fit) {
    const Problem p = problem(140);
    const auto run = [&](const OutputPlan& plan) { return span_top_down(p.spans, p.moments, plan, 2); };
    CHECK_THROWS(Error, "for every span", run({{1, 2, -1}, -1, 6, true}));
    CHECK_THROWS(Error, "no such target: 7", run({{1, 2, -1, 3, -1, 7}, -1, 6, true}));
    CHECK_THROWS(Error, "no such target: -2", run({{-2, 2, -1, 3, -1, 4}, -1, 6, true}));
    for (const index rest : {-2, 7}) CHECK_THROWS(Error, "no such target", run({plan(true).own, rest, 6, true}));
    for (const index whole : {-1, 0, 7}) CHECK_THROWS(Error, "no such target", run({plan(true).own, 5, whole, true}));

    SpanMoments few = p.moments;
    few.pairs.erase(few.pairs.begin() + few.find(0, 3));
    few.products.erase(few.products.begin() + p.moments.find(0, 3));
    CHECK_THROWS(Error, "products of two spans are missing", span_top_down(p.spans, few, plan(true), 2));
}

TEST(span_rank_finds_variables_that_say_the_same) {
    constexpr double tolerance = 1e-10;
    std::vector<Axis> axes;
    for (index v = 0; v < 3; ++v) axes.emplace_back(v, 2, clamped(2, {0.0, 0.5, 1.0}), false);
    const Spans spans(axes, {{0}, {1}, {2}, {0, 1}}, {{0}, {1}, {2}, {0, 1}});
    Matrix x = correlated(150, 150, false);
    const auto rank = [&] {
        return additive_rank(spans, Problem(spans, x, Matrix(150, 0), Values(150, 1.0)).moments, tolerance);
    };
    // Four splines each; they sum to 1.
    CHECK(rank() == std::make_pair(index(10), index(10)));
    std::copy_n(x.column(0), x.rows, x.column(1));
    CHECK(rank() == std::make_pair(index(7), index(10)));
    std::fill_n(x.column(2), x.rows, 0.5);  // a constant adds nothing, and is not expected to
    CHECK(rank() == std::make_pair(index(4), index(7)));
}

}  // namespace fasthdmr
