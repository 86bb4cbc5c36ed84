#include "spans/term_sums.hpp"

#include "dense_spans.hpp"

namespace fasthdmr {

namespace {

// Two outputs, with terms of every subspace; means are large where it is wanted.
GivenTargets targets_of(index rows, double mean) {
    Matrix terms = random_matrix(rows, 7, 85);
    for (index t = 0; t < terms.columns; ++t)
        for (index r = 0; r < rows; ++r) terms(r, t) += mean * double(t + 1);
    return {terms, {{0}, {1}, {0, 1}, {0, 1, 2}, {2}, {1, 2}, {0, 1, 2}}, {0, 0, 0, 0, 1, 1, 1}, {7.0 + mean, -1.0}};
}

std::vector<Spanning> all_inside(const Spans& spans, const Targets& targets) {
    std::vector<Spanning> result;
    for (index t = 0; t < targets.terms(); ++t) result.push_back(spans_inside(spans, targets.subspace_of(t), 3));
    return result;
}

std::vector<double> everything(const TermSums& sums) {
    std::vector<double> all = sums.output_with_columns;
    for (const auto* part :
         {&sums.column_mean, &sums.mean, &sums.variance, &sums.with_output, &sums.output_mean, &sums.output_variance})
        all.insert(all.end(), part->begin(), part->end());
    for (const auto& part : sums.with_columns) all.insert(all.end(), part.begin(), part.end());
    return all;
}

void check(const TermSums& sums, const Spans& spans, const Matrix& x, const GivenTargets& targets,
           const std::vector<double>& weight, double tolerance) {
    const Matrix columns = dense(spans, x), outputs = targets.values();
    Matrix terms(x.rows, targets.terms());
    targets.fill({0, 1, x.rows}, 0, targets.terms(), terms.column(0), x.rows);
    const std::vector<double> ones(x.rows, 1.0);
    for (index t = 0; t < targets.terms(); ++t) {
        std::vector<double> desired;
        for (const index s : sums.spans[t])
            for (index j = 0; j < spans.all()[s].columns; ++j)
                desired.push_back(covariance(columns.column(spans.all()[s].first + j), terms.column(t), weight));
        CHECK_CLOSE(sums.with_columns[t], desired, tolerance);
        CHECK_CLOSE(sums.variance[t], covariance(terms.column(t), terms.column(t), weight), tolerance);
        const double* output = outputs.column(targets.output_of(t));
        CHECK(std::abs(sums.with_output[t] - covariance(terms.column(t), output, weight)) < tolerance);
    }
    for (index k = 0; k < targets.outputs(); ++k) {
        CHECK_CLOSE(sums.output_variance[k], covariance(outputs.column(k), outputs.column(k), weight), tolerance);
        for (index j = 1; j < spans.columns(); ++j)
            CHECK(std::abs(sums.output_with(j, k) - covariance(columns.column(j), outputs.column(k), weight)) <
                  tolerance);
    }
}

}  // namespace

TEST(term_sums_are_covariances) {
    const Spans spans = mixed_spans();
    for (const index rows : {index(2), kBlockRows - 1, kBlockRows, kBlockRows + 1, 9 * kBlockRows + 3})
        for (const double mean : {0.0, 1e6}) {
            const Matrix x = correlated(rows, 84);
            const GivenTargets targets = targets_of(rows, mean);
            const std::vector<double> weight = random_weights(rows, 86);
            const TermSums sums =
                term_sums(spans, x.table(), weight.data(), targets, all_inside(spans, targets), {true, true}, 1);
            // A value of 1e6 has its last digit at 1e-10.
            check(sums, spans, x, targets, weight, mean == 0 ? 1e-11 : 1e-7);
        }
}

TEST(term_sums_do_not_depend_on_threads) {
    const Spans spans = mixed_spans();
    const index rows = 9 * kBlockRows + 7;
    const Matrix x = correlated(rows, 89);
    const GivenTargets targets = targets_of(rows, 1.0);
    const auto sums = [&](int n_threads) {
        return everything(
            term_sums(spans, x.table(), nullptr, targets, all_inside(spans, targets), {true, true}, n_threads));
    };
    const std::vector<double> one = sums(1);
    for (const int n_threads : {2, 5}) CHECK_SAME_BITS(sums(n_threads), one);
}

TEST(merged_sums_are_those_of_all_rows) {
    const Spans spans = mixed_spans();
    const index rows = 2 * kBlockRows + 7, first = 301;
    const Matrix x = correlated(rows, 90);
    const std::vector<double> weight = random_weights(rows, 91);
    for (const double mean : {0.0, 1e6})
        for (const bool terms : {true, false}) {
            const GivenTargets targets = targets_of(rows, mean);
            const auto sums = [&](index begin, index end) {
                const GivenTargets some = targets.part(begin, end);
                const Matrix part = rows_of(x, begin, end);
                return term_sums(spans, part.table(), weight.data() + begin, some, all_inside(spans, some),
                                 {terms, terms}, 1);
            };
            const TermSums all = sums(0, rows), parts = merged(spans, sums(0, first), sums(first, rows));
            CHECK_CLOSE(everything(parts), everything(all), mean == 0 ? 1e-12 : 1e-6);
            CHECK(std::abs(parts.total - all.total) < 1e-12 * all.total);
        }
    TermSums other = term_sums(spans, x.table(), nullptr, targets_of(rows, 0.0), std::vector<Spanning>(7), {}, 1);
    CHECK_THROWS(Error, "different terms", merged(spans, other, TermSums()));
}

TEST(merged_products_are_those_of_all_rows) {
    const Spans spans = mixed_spans();
    const index rows = kBlockRows + 7, first = 301;
    const Matrix x = correlated(rows, 93), head = rows_of(x, 0, first), tail = rows_of(x, first, rows);
    const std::vector<double> weight = random_weights(rows, 94), means(spans.columns(), 0.25);
    const SpanGram all(spans, x.table(), weight.data(), 2.0, means, all_pairs(spans), 1);
    const SpanGram one(spans, head.table(), weight.data(), 1.0, means, all_pairs(spans), 1);
    const SpanGram two(spans, tail.table(), weight.data() + first, 1.0, means, all_pairs(spans), 1);
    const SpanGram sum = one.merged(two, 2.0, means);
    for (const auto& [s, t] : all_pairs(spans))
        CHECK_CLOSE(sum.products(s, t), all.products(s, t), 1e-12 * double(rows));
    const SpanGram fewer(spans, tail.table(), nullptr, 1.0, means, {{0, 0}}, 1);
    CHECK_THROWS(Error, "different spans", one.merged(fewer, 2.0, means));
    std::vector<std::vector<double>> products(all.pairs().size());
    CHECK_THROWS(Error, "products of its columns", SpanGram(spans, 1.0, means, all.pairs(), products));
}

TEST(damaged_sums_are_refused) {
    const Spans spans = mixed_spans();
    const Matrix x = correlated(50, 92);
    const GivenTargets targets = targets_of(50, 0.0);
    const TermSums sums = term_sums(spans, x.table(), nullptr, targets, all_inside(spans, targets), {true, true}, 1);
    check_sizes(spans, sums);
    TermSums damaged = sums;
    damaged.with_columns[2].pop_back();
    CHECK_THROWS(Error, "do not agree", check_sizes(spans, damaged));
    damaged = sums;
    damaged.spans[0] = {99};
    CHECK_THROWS(Error, "no such span", check_sizes(spans, damaged));
    damaged = sums;
    damaged.output_of[0] = 2;
    CHECK_THROWS(Error, "do not agree", check_sizes(spans, damaged));
}

TEST(term_sums_of_some_terms_and_without_outputs) {
    const Spans spans = mixed_spans();
    const Matrix x = correlated(500, 94);
    const GivenTargets targets = targets_of(500, 0.0);
    const TermSums all = term_sums(spans, x.table(), nullptr, targets, all_inside(spans, targets), {true, true}, 1);
    std::vector<Spanning> some = all_inside(spans, targets);
    some[0].clear(), some[4].clear();
    const TermSums fewer = term_sums(spans, x.table(), nullptr, targets, some, {false, false}, 1);
    for (index t = 0; t < targets.terms(); ++t)
        CHECK_SAME_BITS(fewer.with_columns[t], some[t].empty() ? std::vector<double>() : all.with_columns[t]);
    CHECK_SAME_BITS(fewer.column_mean, all.column_mean);
    some.pop_back();
    CHECK_THROWS(Error, "needs a list of spans",
                 term_sums(spans, x.table(), nullptr, targets, some, {false, false}, 1));
}

TEST(spans_inside_a_subspace) {
    const Spans spans = mixed_spans();  // {0}, {1}, {2}, {0, 1}, {1, 2}, {0, 1, 2}
    CHECK(spans_inside(spans, {0, 1, 2}, 2) == (Spanning{0, 1, 2, 3, 4}));
    CHECK(spans_inside(spans, {0, 2}, 3) == (Spanning{0, 2}));
    CHECK(spans_inside(spans, {0, 2, 7}, 1) == (Spanning{0, 2}));
    CHECK(spans_inside(spans, {7}, 2).empty() && spans_inside(spans, {0}, 0).empty());
}

}  // namespace fasthdmr
