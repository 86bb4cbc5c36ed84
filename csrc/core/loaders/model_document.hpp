// The documents that libraries write, told apart by what is in them.
#pragma once

#include "loaders/document.hpp"
#include "loaders/read_trees.hpp"

namespace fasthdmr {

enum class Library { xgboost, catboost };

// An error for any other document.
Library library_of(const Value& root);
ReadTrees read_trees(const Value& root);

}  // namespace fasthdmr
