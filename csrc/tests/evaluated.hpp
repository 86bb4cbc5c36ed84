// Helpers for tests of evaluators and of columns of trees.
#pragma once

#include <limits>
#include <memory>

#include "dictionary/tree_columns.hpp"

namespace fasthdmr {

// A pointer that does not own the forest, which must outlive it.
inline std::shared_ptr<const Forest> borrow(const Forest& forest) { return {std::shared_ptr<const Forest>(), &forest}; }

inline std::vector<TreePart> parts(const std::vector<std::shared_ptr<const Forest>>& forests, index output,
                                   Sorting sorting) {
    std::vector<TreePart> result;
    for (const auto& forest : forests) result.push_back({forest, output, sorting});
    return result;
}

// Evaluates all rows at once. Values that are not written stay NaN.
inline std::vector<double> evaluated(const Evaluator& evaluator, const Table& x, int n_threads) {
    std::vector<double> out(evaluator.columns() * x.rows, std::numeric_limits<double>::quiet_NaN());
    evaluator.evaluate(x, out.data(), n_threads);
    return out;
}

}  // namespace fasthdmr
