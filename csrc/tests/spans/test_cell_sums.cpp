#include "spans/cell_sums.hpp"

#include <cmath>
#include <numeric>

#include "dense_spans.hpp"
#include "kernels/kernels.hpp"

namespace fasthdmr {

extern const Kernels kernels_baseline;

namespace {

// Splines of three variables alone, with `inner` knots for the first, and in pairs. On request the second has missing
// values.
Spans pairs_of_three(const std::vector<double>& inner, bool missing) {
    const std::vector<double> coarse = clamped(3, {0.0, 0.4, 1.0});
    std::vector<Axis> axes{Axis(0, 3, clamped(3, inner), false),
                           Axis(1, 3, clamped(3, {0.0, 0.1, 0.3, 0.5, 1.0}), missing), Axis(2, 3, coarse, false),
                           Axis(0, 3, coarse, false), Axis(1, 3, coarse, missing)};
    return Spans(std::move(axes), {{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}}, {{0}, {1}, {2}, {3, 4}, {3, 2}, {4, 2}});
}

// The pairs of spans that together have all three variables.
SpanPairs of_three_variables(const Spans& spans) {
    SpanPairs pairs;
    for (index a = 0; a < index(spans.all().size()); ++a)
        for (index b = a; b < index(spans.all().size()); ++b) {
            const Subspace &u = spans.all()[a].subspace, &v = spans.all()[b].subspace;
            if (u != v && u.size() + v.size() >= 3 && (u.size() == 2) + (v.size() == 2) >= 1)
                if (u.size() + v.size() == 4 || !std::includes(v.begin(), v.end(), u.begin(), u.end()))
                    pairs.emplace_back(a, b);
        }
    return pairs;
}

const std::vector<double> kInner{0.0, 0.15, 0.2, 0.35, 0.6, 0.8, 0.9, 1.0};

void check_sums(const Spans& spans, const ProductBases& bases, const std::vector<index>& numbers,
                const SpanPairs& pairs) {
    const Matrix x = correlated(700, 11), all = dense(spans, x);
    const std::vector<double> weight = random_weights(x.rows, 12);
    CellSums sums(spans, bases, numbers);
    CellCoordinates panel(bases, numbers, 300);
    for (index first = 0; first < x.rows; first += 300) {
        panel.load(x.table(), {first, 1, std::min<index>(300, x.rows - first), nullptr}, 2);
        sums.add(panel, weight.data() + first);
    }
    for (const auto& [s, t] : pairs) {
        const Span &a = spans.all()[s], &b = spans.all()[t];
        CHECK_CLOSE(sums.products(a, b), products(all, a.first, a.columns, all, b.first, b.columns, weight), 1e-13);
    }
}

}  // namespace

// Gram blocks of pairs with a common variable, and of a variable and a pair: several knots of the variable lie inside
// an interval of the pairs. Missing values have columns, or no products.
TEST(sums_by_cell_determine_the_products_of_spans_of_three_variables) {
    for (const bool missing : {true, false}) {
        const Spans spans = pairs_of_three(kInner, missing);
        const SpanPairs pairs = of_three_variables(spans);
        CHECK(pairs.size() == 6);
        ProductBases bases(spans, 5000);
        const std::vector<index> numbers = cell_bases(spans, bases, pairs);
        CHECK(numbers.size() == 3);
        check_sums(spans, bases, numbers, pairs);
    }
}

// A pair and another variable alone have fewer products in tensor_sums.hpp.
TEST(sums_by_cell_determine_the_products_of_a_variable_and_a_pair) {
    const Spans spans = pairs_of_three(kInner, true);
    ProductBases bases(spans, 5000);
    CHECK(cell_bases(spans, bases, {{2, 3}}).empty());
    const SpanPairs pairs{{2, 3}, {3, 5}};
    const std::vector<index> numbers = cell_bases(spans, bases, pairs);
    CHECK(numbers.size() == 3);
    check_sums(spans, bases, numbers, pairs);
}

// Six knots in an interval, or two that nearly coincide; two variables in common.
TEST(sums_by_cell_need_few_and_separate_knots) {
    for (const std::vector<double>& inner :
         {std::vector<double>{0.0, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 1.0}, {0.0, 0.5, 0.50001, 1.0}}) {
        const Spans spans = pairs_of_three(inner, false);
        ProductBases bases(spans, 5000);
        CHECK(cell_bases(spans, bases, of_three_variables(spans)).empty());
    }
    // A variable and all three: its splines are others there.
    const std::vector<double> knots = clamped(3, {0.0, 0.5, 1.0});
    const Spans three({Axis(0, 3, clamped(3, kInner), false), Axis(0, 3, knots, false), Axis(1, 3, knots, false),
                       Axis(2, 3, knots, false)},
                      {{0}, {0, 1, 2}}, {{0}, {1, 2, 3}});
    ProductBases of_three(three, 5000);
    CHECK(cell_bases(three, of_three, {{0, 1}}).empty());
    const Spans spans = cubic_spans();
    ProductBases bases(spans, 5000);
    for (index s = 0; s < index(spans.all().size()); ++s)
        if (spans.all()[s].axes.size() == 3) CHECK(cell_bases(spans, bases, {{s, s}}).empty());
}

// Same bits whatever the instruction set, for all counts of rows in a chunk, missing values included.
TEST(products_of_functions_agree_with_the_baseline) {
    Random random(98);
    const std::vector<TruncatedCubic> cubics{{0.2, -5.0}, {0.7, 1 / 0.3}};
    const CellInterval some{cubics.data(), 2, 9, false}, none{nullptr, 0, 9, false}, missing{nullptr, 0, 7, true};
    const std::vector<ProductTile> tiles{{0, {{0, 8}, {3, 6}, {1, 4}, {2, 2}}},
                                         {1, {{5, 2}, {7, 0}, {8, 1}, {6, 3}}},
                                         {2, {{1, 0}, {2, 3}, {3, 5}, {0, 7}}}};
    const index n_products = index(tiles.size()) * kTileProducts;
    constexpr index rows = 300;
    std::vector<double> coordinates[3];
    for (auto& t : coordinates)
        for (index r = 0; r < rows; ++r) t.push_back(random.happens(0.1) ? 1.0 : random.uniform(0.0, 1.0));
    const std::vector<double> weight = random_weights(rows, 99);
    std::vector<std::uint16_t> order(rows);
    std::iota(order.rbegin(), order.rend(), std::uint16_t(0));
    const std::vector<FunctionCell> cells{{0, 1, 0, {some, none, some}},
                                          {1, 67, n_products, {some, some, some}},
                                          {67, 300, 2 * n_products, {none, missing, some}}};
    const CellFunctions functions{{coordinates[0].data(), coordinates[1].data(), coordinates[2].data()},
                                  weight.data(),
                                  order.data(),
                                  cells.data(),
                                  index(cells.size()),
                                  tiles.data(),
                                  index(tiles.size())};
    std::vector<double> actual(3 * n_products, 1.0), baseline = actual;
    kernels().add_cell_functions(functions, actual.data());
    kernels_baseline.add_cell_functions(functions, baseline.data());
    CHECK_SAME_BITS(actual, baseline);
}

}  // namespace fasthdmr
