// Reader of xgboost models in the JSON or UBJSON format of `Booster.save_raw`.
#pragma once

#include "loaders/document.hpp"
#include "loaders/read_trees.hpp"

namespace fasthdmr {

// `model` is the object that contains the array "trees". In xgboost a row goes left if x < t, in float32. The
// thresholds that are returned are the next smaller float32, so that a row goes left if x <= threshold. Ends of the
// intervals of categories are float32 as well.
ReadTrees read_xgboost_trees(const Value& model);

}  // namespace fasthdmr
