#include "loaders/model_document.hpp"

#include "loaders/catboost.hpp"
#include "loaders/xgboost.hpp"

namespace fasthdmr {

namespace {

// Where the libraries store their trees; the booster dart of xgboost contains a gbtree.
std::vector<ItemReader> readers_of(std::string_view bytes, ReadTrees& trees) {
    trees.reserve_for(bytes.size());
    const auto read = reader_of_xgboost(trees);
    return {{{"learner", "gradient_booster", "model", "trees"}, read},
            {{"learner", "gradient_booster", "gbtree", "model", "trees"}, read},
            {{"oblivious_trees"}, reader_of_symmetric_trees(trees)}};
}

Library library_of(const Value& root) {
    if (root.find("learner")) return Library::xgboost;
    if (root.find("features_info") && root.find("scale_and_bias")) return Library::catboost;
    throw Error(
        "This is no model of xgboost (it has no 'learner') or CatBoost (no 'features_info'). Dumps of trees are not "
        "read: save the model with save_model.");
}

}  // namespace

ModelDocument::ModelDocument(std::string_view bytes)
    : document_(bytes, readers_of(bytes, trees_)), library_(library_of(root())) {
    if (library_ == Library::catboost) finish_catboost(root(), trees_);
}

}  // namespace fasthdmr
