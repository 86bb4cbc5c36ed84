// Reads the trees of a JSON or UBJSON document. The library that wrote it is recognised by its fields.
#pragma once

#include "loaders/document.hpp"
#include "loaders/read_trees.hpp"

namespace fasthdmr {

enum class Library { xgboost, catboost };

// Throws an error for any other document.
Library library_of(const Value& root);
ReadTrees read_trees(const Value& root);

}  // namespace fasthdmr
