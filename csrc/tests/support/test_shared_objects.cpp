// Objects of the core are immutable once they are made: threads that use the same ones at once, with threads of their
// own, get what one thread gets. The thread sanitizer watches the accesses.
#include <thread>

#include "dictionary/qr_pass.hpp"
#include "dictionary/tree_columns.hpp"
#include "evaluated.hpp"
#include "features/node_features.hpp"
#include "features/tree_features.hpp"
#include "harness.hpp"
#include "trees.hpp"

namespace fasthdmr {

namespace {

struct Shared {
    std::shared_ptr<const Forest> forest;
    Prediction prediction;
    TreeFeatures tree_features;
    NodeFeatures node_features;
    TreeColumns columns;

    explicit Shared(const Trees& trees)
        : forest(std::make_shared<const Forest>(trees.arrays())),
          prediction(forest, 2),
          tree_features(forest, 2),
          node_features(forest, 2),
          columns(parts({forest}, 0, Sorting::by_tree), 2) {}

    std::vector<std::vector<double>> everything(const Matrix& x) const {
        const Triangle r = triangle(TreeDictionary(columns, x.table()), {x.rows}, 2);
        return {evaluated(prediction, x.table(), 2),
                evaluated(tree_features, x.table(), 2),
                evaluated(node_features, x.table(), 2),
                {r.data(), r.data() + r.columns() * r.columns()}};
    }
};

}  // namespace

TEST(threads_share_objects) {
    Random random(40);
    Trees trees(3, 1, 1);
    TreeGrower grower(random, 3, 1, awkward_values());
    for (int t = 0; t < 40; ++t) trees.add(grower.grow(t % 5), 0);
    trees.split_by_sets(random, awkward_values());
    Matrix x(kBlockRows + 9, 3);
    for (double& v : x.values) v = random.one_of(awkward_values());

    const Shared shared(trees);
    std::vector<std::vector<std::vector<double>>> found(4);
    std::vector<std::thread> threads;
    for (auto& result : found) threads.emplace_back([&] { result = shared.everything(x); });
    for (std::thread& thread : threads) thread.join();

    const auto desired = Shared(trees).everything(x);
    for (const auto& result : found)
        for (std::size_t k = 0; k < desired.size(); ++k) CHECK(harness::same_bits(result[k], desired[k]));
}

}  // namespace fasthdmr
