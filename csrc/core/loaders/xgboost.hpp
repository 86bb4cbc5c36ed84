// Reader of xgboost models in the JSON or UBJSON format of `Booster.save_raw`.
#pragma once

#include <functional>

#include "loaders/document.hpp"
#include "loaders/read_trees.hpp"

namespace fasthdmr {

// A function that appends a tree, an item of the array "trees". In xgboost a row goes left if x < t, in float32. The
// thresholds that are appended are the next smaller float32, so that a row goes left if x <= threshold. Ends of the
// intervals of categories are float32 as well. The function must not outlive `trees`.
std::function<void(const Value& tree)> reader_of_xgboost(ReadTrees& trees);

}  // namespace fasthdmr
