// Reader of CatBoost models in the JSON format of `save_model(format="json")`.
#pragma once

#include "loaders/document.hpp"
#include "loaders/read_trees.hpp"

namespace fasthdmr {

// A row goes right if float32(x) > border. Float features are numbered as among all columns of the model.
ReadTrees read_catboost_trees(const Value& model);

}  // namespace fasthdmr
