#include "spans/span_hierarchy.hpp"

#include "dense_spans.hpp"
#include "spans/evaluate.hpp"
#include "spans/term_moves.hpp"

namespace fasthdmr {

namespace {

using Values = std::vector<double>;
constexpr double kRidge = 0.01;

// Terms 0 to 4 are of {0}, {1}, {0, 1}, {0, 1, 2} and of a variable more, which has no span.
struct Problem {
    Spans spans = mixed_spans();
    Matrix x;
    Values weight;
    GivenTargets targets;
    TermSums sums;
    SpanGram gram;

    explicit Problem(std::uint64_t seed, index order = 3)
        : x(correlated(200, seed)),
          weight(random_weights(200, seed + 1)),
          targets(targets_of(x)),
          sums(term_sums(spans, x.table(), weight.data(), targets, spans_of_terms(order), {true, true}, 1)),
          gram(spans, x.table(), weight.data(), sums.total, sums.column_mean, pairs_inside(spans), 1) {}

    std::vector<Spanning> spans_of_terms(index order) const {
        std::vector<Spanning> result;
        for (index t = 0; t < targets.terms(); ++t)
            result.push_back(spans_inside(spans, targets.subspace_of(t), order));
        return result;
    }

    static GivenTargets targets_of(const Matrix& x) {
        Matrix terms(x.rows, 5);
        for (index r = 0; r < x.rows; ++r) {
            const double a = x(r, 0), b = std::isnan(x(r, 1)) ? -0.5 : x(r, 1), c = x(r, 2);
            const double row[] = {a / (0.1 + a * a), b > 0.4 ? b * b : -0.2, 1 / (2 - a * b), a * b * c,
                                  1 / (1 + (a + c) * (b + c))};
            for (index t = 0; t < 5; ++t) terms(r, t) = row[t];
        }
        return {terms, {{0}, {1}, {0, 1}, {0, 1, 2}, {0, 1, 2, 3}}, {0, 0, 0, 0, 0}, {2.0}};
    }

    std::vector<std::vector<double>> project(const std::vector<char>& kept, int n_threads = 1) const {
        return solve_terms(gram, x.table(), weight.data(), sums, kept, kRidge, n_threads);
    }

    Decomposition decompose(bool smooth, int n_threads = 1) const {
        const std::vector<char> kept = smooth ? std::vector<char>(5, 0) : std::vector<char>{1, 1, 1, 1, 0};
        const Buffer<double> total = add_up(spans, sums, project(kept, n_threads), 1);
        const std::vector<index> own = smooth ? std::vector<index>(6, -1) : std::vector<index>{0, 1, -1, 2, -1, 3};
        return span_top_down(gram, sums, {{total.data(), own}}, kRidge, n_threads).front();
    }

    // Component functions at the rows; with `smooth` false, the terms that they keep are part of them.
    std::vector<Values> components(const Decomposition& d, bool smooth) const {
        Values all(d.components.count() * x.rows);
        evaluate(spans, x.table(), d.components, all.data(), 1);
        Matrix terms(x.rows, 5);
        targets.fill({0, 1, x.rows}, 0, 5, terms.column(0), x.rows);
        std::vector<Values> out;
        const index own[] = {0, 1, -1, 2, -1, 3};
        for (index s = 0; s < d.components.count(); ++s) {
            out.emplace_back(all.begin() + s * x.rows, all.begin() + (s + 1) * x.rows);
            if (smooth || own[s] < 0) continue;
            for (index r = 0; r < x.rows; ++r) out[s][r] += terms(r, own[s]);
        }
        return out;
    }
};

// What the normal equations of a ridge regression leave: b - (G + ridge) a.
double left_over(const Problem& p, const Spanning& on, const Values& right, const Values& a) {
    const Buffer<double> g = p.gram.covariance(on, on);
    double worst = 0.0;
    std::size_t i = 0;
    for (const index s : on)
        for (index j = 0; j < p.spans.all()[s].columns; ++j, ++i) {
            double sum = right[i] - kRidge / double(p.spans.all()[s].columns) * a[i];
            for (std::size_t k = 0; k < a.size(); ++k) sum -= g[i * a.size() + k] * a[k];
            worst = std::max(worst, std::abs(sum));
        }
    return worst;
}

}  // namespace

TEST(terms_are_projected_inside_their_own_subspace) {
    const Problem p(100);
    const auto coefficients = p.project({0, 0, 1, 0, 0});
    CHECK(coefficients[2].empty());
    for (const index t : {0, 1, 3, 4}) {
        CHECK(p.gram.columns(p.sums.spans[t]) == index(coefficients[t].size()));
        CHECK(left_over(p, p.sums.spans[t], p.sums.with_columns[t], coefficients[t]) < 1e-13);
    }
}

TEST(products_that_are_missing_are_summed_up) {
    const Problem p(105);
    const SpanGram nothing(p.spans, p.x.table(), p.weight.data(), p.sums.total, p.sums.column_mean, {}, 1);
    const std::vector<char> kept(5, 0);
    const auto some = solve_terms(nothing, p.x.table(), p.weight.data(), p.sums, kept, kRidge, 2);
    const auto all = p.project(kept);
    for (index t = 0; t < 5; ++t) CHECK_SAME_BITS(some[t], all[t]);
    CHECK_THROWS(Error, "products of two spans are missing", nothing.covariance({0}, {1}));
}

// Differences of projections whose weights of one block are a little larger and a little smaller.
TEST(moves_of_terms_are_derivatives_with_respect_to_weights) {
    constexpr index n_blocks = 8;
    constexpr double step = 1e-4;
    const Problem p(110);
    const std::vector<index> chosen{4, 0, 3};
    const std::vector<char> kept{0, 1, 1, 0, 0};
    const auto coefficients = [&](const Values& weight) {
        const TermSums sums =
            term_sums(p.spans, p.x.table(), weight.data(), p.targets, p.spans_of_terms(3), {true, true}, 1);
        const SpanGram gram(p.spans, p.x.table(), weight.data(), sums.total, sums.column_mean, pairs_inside(p.spans),
                            1);
        return add_up(p.spans, sums, solve_terms(gram, p.x.table(), weight.data(), sums, kept, kRidge, 1), 1);
    };
    Matrix terms(p.x.rows, 5), given(p.x.rows, 3);
    p.targets.fill({0, 1, p.x.rows}, 0, 5, terms.column(0), p.x.rows);
    for (index k = 0; k < 3; ++k) std::copy_n(terms.column(chosen[k]), p.x.rows, given.column(k));
    const std::vector<double> one(p.spans.columns(), 1.0);
    const auto moves = [&](const std::vector<double>& factor, int n_threads) {
        return term_moves(p.gram, p.x.table(), p.weight.data(), p.sums, {chosen, given.column(0)}, n_blocks, factor,
                          kRidge, n_threads);
    };
    const Buffer<double> found = moves(one, 1);
    for (index b = 0; b < n_blocks; ++b) {
        Values more = p.weight, less = p.weight;
        for (index r = b * p.x.rows / n_blocks; r < (b + 1) * p.x.rows / n_blocks; ++r) {
            more[r] *= 1 + step;
            less[r] *= 1 - step;
        }
        const Buffer<double> after = coefficients(more), before = coefficients(less);
        Values differences, own(found.begin() + b * p.spans.columns(), found.begin() + (b + 1) * p.spans.columns());
        for (index j = 0; j < p.spans.columns(); ++j) differences.push_back((after[j] - before[j]) / (2 * step));
        CHECK_CLOSE(own, differences, 1e-5);  // the error of the differences is of the order of step²
    }
    Values two(one), twice(found.begin(), found.end());
    for (double& factor : two) factor = 2.0;
    for (double& value : twice) value *= 2.0;
    const Buffer<double> doubled = moves(two, 3);
    CHECK_CLOSE(Values(doubled.begin(), doubled.end()), twice, 1e-12);
}

TEST(gram_blocks_are_covariances) {
    for (const index rows : {index(3), kBlockRows + 1, 9 * kBlockRows}) {
        const Spans spans = mixed_spans();
        const Matrix x = correlated(rows, 84), columns = dense(spans, x);
        const Values weight = random_weights(rows, 86);
        const GivenTargets targets(Matrix(rows, 0), {}, {}, {0.0});
        const TermSums sums = term_sums(spans, x.table(), weight.data(), targets, {}, {true, false}, 1);
        const SpanGram one(spans, x.table(), weight.data(), sums.total, sums.column_mean, all_pairs(spans), 1);
        const Spanning all = {0, 1, 2, 3, 4, 5};
        const Buffer<double> g = one.covariance(all, all);
        Values desired;
        for (index i = 1; i < spans.columns(); ++i)
            for (index j = 1; j < spans.columns(); ++j)
                desired.push_back(covariance(columns.column(i), columns.column(j), weight));
        CHECK_CLOSE(Values(g.begin(), g.end()), desired, 1e-12);
        const SpanGram several(spans, x.table(), weight.data(), sums.total, sums.column_mean, all_pairs(spans), 3);
        const Buffer<double> same = several.covariance(all, all, 2);
        CHECK_SAME_BITS(Values(same.begin(), same.end()), Values(g.begin(), g.end()));
    }
}

TEST(span_hierarchy_holds_its_facts) {
    for (const bool smooth : {true, false}) {
        const Problem p(110);
        const Decomposition d = p.decompose(smooth);
        const std::vector<Values> components = p.components(d, smooth);
        const Matrix output = p.targets.values();
        const Values ones(p.x.rows, 1.0);
        CHECK_CLOSE(d.total, covariance(output.column(0), output.column(0), p.weight), 1e-12);
        const Matrix columns = dense(p.spans, p.x);
        for (std::size_t s = 0; s < components.size(); ++s) {
            double mean = 0.0;
            for (index r = 0; r < p.x.rows; ++r) mean += p.weight[r] * components[s][r];
            CHECK(std::abs(mean) < 1e-10);
            CHECK(std::abs(d.variance[s] - covariance(components[s].data(), components[s].data(), p.weight)) < 1e-11);
            CHECK(std::abs(d.covariance[s] - covariance(components[s].data(), output.column(0), p.weight)) < 1e-11);
            // Orthogonal to the spans below up to the ridge: what overlaps is the ridge times what was handed down.
            const Spanning below =
                spans_inside(p.spans, p.spans.all()[s].subspace, index(p.spans.all()[s].subspace.size()) - 1);
            Values overlap, down;
            for (index e = d.components.begin[s] + 1; e < d.components.begin[s + 1]; ++e) {
                const index j = d.components.column[e];
                if (j >= p.spans.all()[s].first) break;
                overlap.push_back(covariance(columns.column(j), components[s].data(), p.weight));
                down.push_back(-d.components.weight[e]);
            }
            std::size_t i = 0;
            for (const index v : below)
                for (index j = 0; j < p.spans.all()[v].columns; ++j, ++i)
                    CHECK(std::abs(overlap[i] - kRidge / double(p.spans.all()[v].columns) * down[i]) < 1e-12);
        }
    }
}

TEST(span_hierarchy_keeps_the_sum) {
    const Problem p(115);
    for (const bool smooth : {true, false}) {
        const Decomposition d = p.decompose(smooth);
        const std::vector<Values> components = p.components(d, smooth);
        const auto coefficients = p.project(std::vector<char>(5, 0));
        const Matrix columns = dense(p.spans, p.x);
        Matrix terms(p.x.rows, 5);
        p.targets.fill({0, 1, p.x.rows}, 0, 5, terms.column(0), p.x.rows);
        Values sum(p.x.rows, 0.0), desired(p.x.rows, 0.0);
        for (const Values& component : components)
            for (index r = 0; r < p.x.rows; ++r) sum[r] += component[r];
        for (index t = 0; t < 5; ++t)
            for (index r = 0; r < p.x.rows; ++r) {
                if (!smooth && t < 4) {
                    desired[r] += terms(r, t) - p.sums.mean[t];
                    continue;
                }
                std::size_t c = 0;
                for (const index s : p.sums.spans[t])
                    for (index j = 0; j < p.spans.all()[s].columns; ++j, ++c) {
                        const index column = p.spans.all()[s].first + j;
                        desired[r] += coefficients[t][c] * (columns(r, column) - p.sums.column_mean[column]);
                    }
            }
        CHECK_CLOSE(sum, desired, 1e-11);
    }
}

TEST(span_hierarchy_does_not_depend_on_threads_or_on_order) {
    const Problem p(130);
    for (const bool smooth : {true, false}) {
        const auto solve = [&](int n_threads) {
            const Decomposition d = p.decompose(smooth, n_threads);
            Values all = d.components.weight;
            for (const auto* part : {&d.variance, &d.covariance}) all.insert(all.end(), part->begin(), part->end());
            return all;
        };
        const Values one = solve(1);
        for (const int n_threads : {2, 5}) CHECK_SAME_BITS(solve(n_threads), one);
    }
}

TEST(span_hierarchy_rejects_what_does_not_fit) {
    const Problem p(140);
    const Buffer<double> nothing(p.spans.columns(), 0.0);
    const auto run = [&](std::vector<OutputStart> starts) { return span_top_down(p.gram, p.sums, starts, kRidge, 1); };
    CHECK_THROWS(Error, "every output", run({}));
    CHECK_THROWS(Error, "every span", run({{nothing.data(), {0, 1}}}));
    for (const index bad : {-2, 5})
        CHECK_THROWS(Error, "no such term: " + std::to_string(bad), run({{nothing.data(), {bad, -1, -1, -1, -1, -1}}}));
    const Decomposition none = run({{nothing.data(), std::vector<index>(6, -1)}}).front();
    CHECK(none.components.column.empty() && none.variance == Values(6, 0.0));
}

}  // namespace fasthdmr
