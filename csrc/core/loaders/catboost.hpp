// Reader of CatBoost models in the JSON format of `save_model(format="json")`.
#pragma once

#include <functional>

#include "loaders/document.hpp"
#include "loaders/read_trees.hpp"

namespace fasthdmr {

// A function that appends a symmetric tree, an item of "oblivious_trees". It must not outlive `trees`.
std::function<void(const Value& tree)> reader_of_symmetric_trees(ReadTrees& trees);
// Completes the trees when the whole model, the root of the document, has been parsed: appends those that are not
// symmetric, and numbers features as among all columns of the model. A row goes right if float32(x) > border.
void finish_catboost(const Value& model, ReadTrees& trees);

}  // namespace fasthdmr
