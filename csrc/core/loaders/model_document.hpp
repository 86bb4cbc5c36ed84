// The model in a JSON or UBJSON document. The library that wrote it is recognised by its fields.
#pragma once

#include "loaders/document.hpp"
#include "loaders/read_trees.hpp"

namespace fasthdmr {

enum class Library { xgboost, catboost };

// Values refer to the parsed bytes, which must outlive the model.
class ModelDocument {
public:
    // Throws an error for documents of other libraries.
    explicit ModelDocument(std::string_view bytes);

    Library library() const { return library_; }
    ReadTrees& trees() { return trees_; }
    // The document without its trees; those of CatBoost that are not symmetric remain.
    const Value& root() const { return document_.root(); }

private:
    ReadTrees trees_;
    Document document_;
    Library library_;
};

}  // namespace fasthdmr
