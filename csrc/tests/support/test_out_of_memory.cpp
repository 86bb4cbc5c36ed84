// Calls every entry point while one of its allocations fails, or all from one on. It must return its result or throw
// std::bad_alloc. This is a separate program, because it replaces operator new.
#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>

#include "dense_spans.hpp"
#include "dictionary/qr_pass.hpp"
#include "evaluated.hpp"
#include "harness.hpp"
#include "hierarchy/hierarchy.hpp"
#include "inspection/partial_dependence.hpp"
#include "product_measure/components.hpp"
#include "product_measure/variance.hpp"
#include "spans/evaluate.hpp"
#include "spans/span_hierarchy.hpp"
#include "spans/term_moves.hpp"
#include "support/parallel.hpp"
#include "trees.hpp"

namespace {

constexpr long kNever = -1;
std::atomic<long> allocations{0}, first_failure{kNever}, last_failure{kNever};

void* allocate(std::size_t size, std::size_t alignment) {
    const long number = allocations++, first = first_failure;
    if (first != kNever && number >= first && number <= last_failure) throw std::bad_alloc();
    void* p = std::aligned_alloc(alignment, (std::max<std::size_t>(size, 1) + alignment - 1) / alignment * alignment);
    if (!p) throw std::bad_alloc();
    return p;
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) { return allocate(size, std::size_t(alignment)); }
// Replaced as well, because that of a sanitizer would not match the operator delete below.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    try {
        return operator new(size);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace fasthdmr {

namespace {

constexpr int kThreads = 3;
constexpr long kFailures = 60;  // of each kind, for each entry point
using Values = std::vector<double>;
using Forests = std::vector<std::shared_ptr<const Forest>>;

// Calls an entry point with failures spread over its allocations.
template <class Call>
void try_failures(const char* name, const Call& call) {
    const Values right = call();
    const long before = allocations;
    call();
    const long count = allocations - before;
    int results = 0, failures = 0;
    for (const bool once : {true, false})
        for (long k = 0; k < kFailures; ++k) {
            const long failing = allocations + count * k / kFailures;
            last_failure = once ? failing : std::numeric_limits<long>::max();
            first_failure = failing;
            Values result;
            bool ended = true;
            try {
                result = call();
            } catch (const std::bad_alloc&) {
                ended = false;
            }
            first_failure = kNever;
            if (ended && !harness::same_bits(result, right)) harness::fail(name, int(k), "another result");
            ++(ended ? results : failures);
        }
    std::printf("%s: %ld allocations, %d results, %d failures\n", name, count, results, failures);
}

struct Case {
    Trees trees{4, 2, 1};
    Matrix x{2 * kBlockRows + 76, 4};
    Values weight;
    std::shared_ptr<const Forest> forest;
    Spans spans = {{{0, 3, {0, 0, 0, 0, .5, 1, 1, 1, 1}, false}, {1, 1, {0, 0, .3, .6, 1, 1}, true}},
                   {{0}, {1}, {0, 1}},
                   {{0}, {1}, {0, 1}}};

    Case() {
        Random random(1);
        TreeGrower grower(random, 4, 1, {0.1, 0.2, 0.4, 0.5, 0.7, 0.8});
        for (int t = 0; t < 40; ++t) trees.add(grower.grow(1 + t % 5), t % 2);
        for (double& v : x.values) v = random.uniform();
        for (index i = 0; i < x.rows; ++i) weight.push_back(random.uniform(0.5, 2.0));
        forest = std::make_shared<const Forest>(trees.arrays());
    }
    TreeColumns columns(Sorting sorting) const { return TreeColumns(parts({forest, forest}, 0, sorting), kThreads); }
    // The numbers of a result.
    Values of(const Triangle& r) const { return Values(r.data(), r.data() + r.columns() * r.columns()); }
    Values of(const Decomposition& d) const {
        Values all = d.components.weight;
        all.insert(all.end(), d.variance.begin(), d.variance.end());
        all.insert(all.end(), d.covariance.begin(), d.covariance.end());
        return all;
    }
};

const Case& a_case() {
    static const Case made;
    return made;
}

Components every_column(index count) {
    Components all;
    for (index j = 0; j < count; ++j) {
        all.column.push_back(j);
        all.weight.push_back(1.0 + double(j));
        all.begin.push_back(j + 1);
    }
    return all;
}

}  // namespace

TEST(threads_that_cannot_be_started_are_not_needed) {
    try_failures("parallel_for", [] {
        Values squares(64);
        parallel_for(64, 8, [&](index k) { squares[k] = Values(k, double(k)).size(); });
        return squares;
    });
}

TEST(forests) {
    const Case& c = a_case();
    try_failures("Forest", [&] {
        const Forest forest(c.trees.arrays());
        return Values(forest.values(0), forest.values(0) + forest.n_nodes());
    });
    try_failures("Prediction", [&] { return evaluated(Prediction(c.forest, kThreads), c.x.table(), kThreads); });
    try_failures("TreeFeatures", [&] { return evaluated(TreeFeatures(c.forest, kThreads), c.x.table(), kThreads); });
    try_failures("NodeFeatures", [&] { return evaluated(NodeFeatures(c.forest, kThreads), c.x.table(), kThreads); });
}

TEST(triangles_and_components) {
    const Case& c = a_case();
    for (const Sorting sorting : {Sorting::by_tree, Sorting::by_node}) {
        try_failures("triangle", [&] {
            const TreeColumns columns = c.columns(sorting);
            const TreeDictionary dictionary(columns, c.x.table());
            return c.of(triangle(dictionary, {c.x.rows, c.weight.data(), c.x.column(0)}, kThreads));
        });
        try_failures("evaluate", [&] {
            const TreeColumns columns = c.columns(sorting);
            const Components components = every_column(columns.count() + 1);
            Values out(components.count() * c.x.rows);
            evaluate(columns, c.x.table(), components, out.data(), kThreads);
            return out;
        });
    }
    const ArrayDictionary dictionary(c.x.table(), {{0}, {1}, {0, 1}}, {0, 0, 1, 2});
    const Triangle r = triangle(dictionary, {c.x.rows}, kThreads);
    try_failures("triangles", [&] {
        const index half = c.x.rows / 2;
        auto two = triangles(dictionary, {c.x.rows}, {{0, 2, half}, {1, 2, half}}, kThreads);
        two[0].merge(two[1]);
        return c.of(two[0]);
    });
    const Values beta(r.columns(), 1.0);
    try_failures("top_down", [&] {
        const Measure measure = make_measure(r.data(), r.columns(), dictionary.subspaces(), {0, 0, 1, 2}, 1e-12);
        return c.of(top_down(measure, beta.data(), kThreads));
    });
    try_failures("eta_matrix", [&] {
        const Measure measure = make_measure(r.data(), r.columns(), dictionary.subspaces(), {0, 0, 1, 2}, 1e-12);
        Values a(r.columns() * r.columns());
        eta_matrix(measure, a.data(), kThreads);
        return a;
    });
}

TEST(spans_and_their_hierarchy) {
    const Case& c = a_case();
    const TreeColumns columns = c.columns(Sorting::by_node);
    const TreeTargets targets({{&columns, Values(columns.count(), 1.0), 0.5}}, c.x.table());
    std::vector<Spanning> inside;
    for (index t = 0; t < targets.terms(); ++t) inside.push_back(spans_inside(c.spans, targets.subspace_of(t), 2));
    const auto sum = [&] {
        return term_sums(c.spans, c.x.table(), c.weight.data(), targets, inside, {true, true}, kThreads);
    };
    try_failures("term_sums", [&] { return sum().output_with_columns; });
    const TermSums sums = sum();
    const auto products = [&](SpanPairs pairs) {
        return SpanGram(c.spans, c.x.table(), c.weight.data(), sums.total, sums.column_mean, std::move(pairs),
                        kThreads);
    };
    try_failures("SpanGram", [&] {
        const Buffer<double> g = products(all_pairs(c.spans)).covariance({0}, {0}, kThreads);
        return Values(g.begin(), g.end());
    });
    const SpanGram gram = products(pairs_inside(c.spans));
    const auto project = [&] {
        const SpanGram nothing = products({});
        const std::vector<char> kept(sums.spans.size(), 0);
        const auto solutions = solve_terms(nothing, c.x.table(), c.weight.data(), sums, kept, 0.01, kThreads);
        return add_up(c.spans, sums, solutions, 1);
    };
    try_failures("solve_terms", [&] {
        const Values factor(c.spans.columns(), 1.0), term(c.x.rows, 1.0);
        try_failures("term_moves", [&] {
            const Buffer<double> moves =
                term_moves(gram, c.x.table(), c.weight.data(), sums, {{0}, term.data()}, 1, factor, 0.01, kThreads);
            return Values(moves.begin(), moves.end());
        });
        const Buffer<double> total = project();
        return Values(total.begin(), total.end());
    });
    const Buffer<double> total = project();
    try_failures("span_top_down", [&] {
        const std::vector<index> kept(c.spans.all().size(), -1);
        return c.of(span_top_down(gram, sums, {{total.data(), kept}}, 0.01, kThreads).front());
    });
    try_failures("evaluate spans", [&] {
        const Components components = every_column(c.spans.columns());
        Values out(components.count() * c.x.rows);
        evaluate(c.spans, c.x.table(), components, out.data(), kThreads);
        return out;
    });
}

TEST(product_measure_and_partial_dependence) {
    const Case& c = a_case();
    const Values factors(c.forest->n_trees(), 1.0);
    const auto trees = [&] {
        const Forests forests{c.forest};
        return ProductTrees(forests, 0, {factors.data()},
                            std::make_shared<const Marginals>(forests, c.x.table(), c.weight.data(), kThreads));
    };
    for (const std::uint64_t bytes : {std::uint64_t(0), kProductTableBytes})
        try_failures("ProductComponents",
                     [&] { return ProductComponents(trees(), 2, std::nullopt, bytes, kThreads).variances(kThreads); });
    const ProductTrees made = trees();
    try_failures("total_variance", [&] { return Values(1, total_variance(made, {}, {}, kThreads)); });
    try_failures("tree_variance", [&] { return Values(1, tree_variance(made, kThreads)); });
    const ProductComponents components(made, 2, std::nullopt, 0, kThreads);
    try_failures("evaluate products", [&] {
        const Components all = every_column(components.count() + 1);
        Values out(all.count() * c.x.rows);
        evaluate(components, c.x.table(), all, out.data(), kThreads);
        return out;
    });
    try_failures("partial_dependence", [&] {
        const std::vector<GridAxis> axes{{0, {0.1, 0.5, 0.9}}, {1, {0.2, 0.6}}};
        const auto means =
            partial_dependence(*c.forest, c.x.table(), c.weight.data(), axes, {{0}, {1}, {0, 1}}, kThreads);
        return means[2];
    });
}

}  // namespace fasthdmr
