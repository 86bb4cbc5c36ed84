#include "spans/level_elimination.hpp"

#include <numeric>

#include "dense_spans.hpp"
#include "linalg/cholesky.hpp"
#include "spans/term_sums.hpp"

namespace fasthdmr {

namespace {

// Codes of `n` levels, the last of which is `shared` levels wide.
Axis of_levels(index variable, index n, index shared = 1) {
    std::vector<double> knots(n + 1);
    std::iota(knots.begin(), knots.end(), -0.5);
    knots.back() += double(shared - 1);
    return Axis(variable, 0, knots, false, {}, true);
}

// Two categorical variables and a numeric one. Pairs share an indicator among the last levels of the first variable.
Spans categorical_spans() {
    const std::vector<double> knots = clamped(3, {-1.0, 0.0, 1.0});
    return {{of_levels(0, 40), of_levels(1, 5), Axis(2, 3, knots, false), of_levels(0, 7, 34)},
            {{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}},
            {{0}, {1}, {2}, {3, 1}, {3, 2}, {1, 2}}};
}

Matrix codes(index rows) {
    Random random(3);
    Matrix x(rows, 3);
    for (index r = 0; r < rows; ++r) {
        x(r, 0) = std::floor(random.uniform(0.0, 41.0));  // 40 is an unknown level
        x(r, 1) = std::floor(random.uniform(0.0, 5.0));
        x(r, 2) = random.uniform(-1.0, 1.0);
    }
    return x;
}

}  // namespace

TEST(levels_are_eliminated_one_by_one) {
    const Spans spans = categorical_spans();
    const Matrix x = codes(300);
    const std::vector<double> weight = random_weights(300, 1);
    const GivenTargets none(Matrix(300, 0), {}, {}, {0.0});
    const TermSums sums = term_sums(spans, x.table(), weight.data(), none, {}, {true, false}, 1);
    const SpanGram gram(spans, x.table(), weight.data(), sums.total, sums.column_mean, all_pairs(spans), 1);
    CHECK(LevelElimination::variable(spans, {1, 2, 5}) == -1);
    for (const Spanning& spanning : {Spanning{0, 1, 2, 3, 4, 5}, Spanning{0}, Spanning{0, 2, 4}, Spanning{0, 1, 2}}) {
        CHECK(LevelElimination::variable(spans, spanning) == 0);
        const index n = gram.columns(spanning);
        Buffer<double> factor = gram.covariance(spanning, spanning);
        index row = 0;
        for (const index s : spanning)
            for (index j = 0; j < spans.all()[s].columns; ++j, ++row)
                factor[row * n + row] += 0.1 / double(spans.all()[s].columns);
        CHECK(cholesky(factor.data(), n));
        const Matrix right = random_matrix(n, 2, 5);
        std::vector<double> expected(right.values.begin(), right.values.end());
        for (index k = 0; k < 2; ++k) solve_factored(factor.data(), n, expected.data() + k * n);
        const LevelElimination system(gram, spanning, 0.1, 0);
        CHECK_CLOSE(system.solve({right.values.begin(), right.values.end()}), expected, 1e-11);
    }
}

}  // namespace fasthdmr
