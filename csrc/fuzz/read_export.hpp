// What the fuzz targets of readers share: the only permitted failure is an Error, and a forest that is accepted can be
// evaluated.
#pragma once

#include <algorithm>
#include <memory>

#include "features/tree_features.hpp"
#include "forest/compared_nodes.hpp"
#include "forest/forest.hpp"
#include "loaders/read_trees.hpp"
#include "matrix.hpp"

namespace fasthdmr {

constexpr index kColumns = 4;  // of the models in the seeds

inline void evaluate_forest(const ReadTrees& trees) {
    SetCuts cuts;
    for (std::size_t s = 0; s + 1 < trees.set_offsets.size(); ++s) {
        const std::int64_t first = trees.set_offsets[s];
        cuts.append_union(trees.intervals.data() + 2 * first, trees.set_offsets[s + 1] - first);
    }
    const NodeArrays nodes{trees.n_nodes(),        trees.left.data(),
                           trees.right.data(),     trees.feature.data(),
                           trees.threshold.data(), trees.category_set.empty() ? nullptr : trees.category_set.data()};
    const ComparedNodes compared = compare_nodes(nodes, std::vector<Replacement>(kColumns), cuts);
    const std::vector<std::int64_t> outputs(trees.n_trees(), 0);
    const std::vector<double> offset(trees.width, 0.0);
    const auto forest = std::make_shared<const Forest>(
        TreeArrays{kColumns, trees.width, trees.n_trees(), trees.n_nodes(), trees.width, trees.tree_offsets.data(),
                   trees.left.data(), trees.right.data(), trees.feature.data(), trees.threshold.data(),
                   trees.missing_left.data(), trees.value.data(), outputs.data(), offset.data(), trees.weight.data(),
                   compared.comparison, compared.set.data(), compared.code.data()});
    Matrix x(2, kColumns);
    std::fill(x.values.begin(), x.values.end(), 0.5);
    std::vector<double> out(x.rows * trees.width);
    Prediction(forest, 1).evaluate(x.table(), out.data(), 1);
}

// `read` returns the trees, or throws an Error.
template <class Read>
void try_to_read(const Read& read) {
    try {
        evaluate_forest(read());
    } catch (const Error&) {}
}

}  // namespace fasthdmr
