#include "loaders/model_document.hpp"

#include "loaders/catboost.hpp"
#include "loaders/xgboost.hpp"

namespace fasthdmr {

namespace {

// The object that contains the trees. The booster dart contains a gbtree; linear boosters have no trees.
const Value* gbtree_of(const Value& root) {
    const Value& booster = root.at("learner").at("gradient_booster");
    const Value* inner = booster.find("gbtree");
    const Value* model = (inner ? *inner : booster).find("model");
    return model && model->find("trees") ? model : nullptr;
}

}  // namespace

Library library_of(const Value& root) {
    if (root.find("learner")) return Library::xgboost;
    if (root.find("features_info") && root.find("scale_and_bias")) return Library::catboost;
    throw Error(
        "This is no model of xgboost (it has no 'learner') or CatBoost (no 'features_info'). Dumps of trees are not "
        "read: save the model with save_model.");
}

ReadTrees read_trees(const Value& root) {
    if (library_of(root) == Library::catboost) return read_catboost_trees(root);
    const Value* model = gbtree_of(root);
    return model ? read_xgboost_trees(*model) : ReadTrees{};
}

}  // namespace fasthdmr
