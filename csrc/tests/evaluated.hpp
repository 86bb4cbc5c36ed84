// What an evaluator gives, all of it at once; whatever it leaves out stays NaN.
#pragma once

#include <limits>
#include <memory>

#include "features.hpp"

namespace fasthdmr {

// For evaluators that do not outlive the forest.
inline std::shared_ptr<const Forest> borrow(const Forest& forest) { return {std::shared_ptr<const Forest>(), &forest}; }

inline std::vector<double> evaluated(const Evaluator& evaluator, const Table& x, int n_threads) {
    std::vector<double> out(evaluator.columns() * x.rows, std::numeric_limits<double>::quiet_NaN());
    evaluator.evaluate(x, out.data(), n_threads);
    return out;
}

}  // namespace fasthdmr
