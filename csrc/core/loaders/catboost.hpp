// The trees of CatBoost, from the document that `save_model(format="json")` writes.
#pragma once

#include "loaders/document.hpp"
#include "loaders/read_trees.hpp"

namespace fasthdmr {

// CatBoost asks for float32(x) > border. Columns are those of the model's float features among all of its columns.
ReadTrees read_catboost_trees(const Value& model);

}  // namespace fasthdmr
