// The trees of xgboost, from the document that `Booster.save_raw` writes.
#pragma once

#include "loaders/document.hpp"
#include "loaders/read_trees.hpp"

namespace fasthdmr {

// Of the object that holds the array "trees". Thresholds are such that values up to them go left: xgboost asks for
// x < t, in float32. Intervals of categories are in float32 too.
ReadTrees read_xgboost_trees(const Value& model);

}  // namespace fasthdmr
