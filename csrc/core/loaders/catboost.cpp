#include "loaders/catboost.hpp"

#include <algorithm>

#include "support/interruption.hpp"

namespace fasthdmr {

namespace {

constexpr index kDeepestSymmetric = 30;  // 2^depth leaves

struct FloatFeature {
    std::int64_t column;
    bool missing_left;
};

// What goes to the right child: numbers above a border, or one category.
struct Split {
    FloatFeature feature;
    double border;
    bool is_category = false;  // `border` is its place among the hashes of the column

    void put(ReadTrees& trees, index node, index left, index right) const {
        if (!is_category) return trees.split(node, feature.column, border, feature.missing_left, left, right);
        trees.split_by_set(node, feature.column, false, right, left);
        trees.append_interval(border, border);
    }
};

class Splits {
public:
    explicit Splits(const Value& model) {
        const Value* found = model.at("features_info").find("float_features");
        for (index k = 0; k < (found ? found->size() : 0); ++k) {
            const Value& all = *found;
            const std::string_view nan = all.at(k).at("nan_value_treatment").text();
            if (nan != "AsIs" && nan != "AsFalse" && nan != "AsTrue")
                throw Error("Missing values of this CatBoost model are treated in an unknown way: '" +
                            std::string(nan) + "'.");
            // NaN counts as -infinity (AsFalse) or +infinity (AsTrue); if AsIs, the comparison with a border is false.
            features_.push_back({all.at(k).at("flat_feature_index").integer(), nan != "AsTrue"});
        }
        const Value* categorical = model.at("features_info").find("categorical_features");
        for (index k = 0; k < (categorical ? categorical->size() : 0); ++k) {
            const Value& feature = categorical->at(k);
            Categories found{feature.at("flat_feature_index").integer(), {}};
            const Value* hashes = feature.find("values");
            for (index h = 0; h < (hashes ? hashes->size() : 0); ++h) found.hashes.push_back(hashes->integer(h));
            categories_.push_back(std::move(found));
        }
    }

    Split operator()(const Value& split) const {
        const std::string_view type = split.at("split_type").text();
        if (type == "OneHotFeature") return category(split);
        if (type != "FloatFeature") refuse(type);
        const std::int64_t feature = split.at("float_feature_index").integer();
        if (feature < 0 || feature >= std::int64_t(features_.size()))
            throw Error("The model's export is damaged: no such feature.");
        return {features_[feature], split.at("border").number()};
    }

private:
    struct Categories {
        std::int64_t column;
        std::vector<std::int64_t> hashes;
    };

    Split category(const Value& split) const {
        const std::int64_t feature = split.at("cat_feature_index").integer(), hash = split.at("value").integer();
        if (feature < 0 || feature >= std::int64_t(categories_.size()))
            throw Error("The model's export is damaged: no such feature of categories.");
        const std::vector<std::int64_t>& hashes = categories_[feature].hashes;
        const auto at = std::find(hashes.begin(), hashes.end(), hash);
        if (at == hashes.end()) throw Error("The model's export is damaged: no such category.");
        return {{categories_[feature].column, false}, double(at - hashes.begin()), true};
    }

    [[noreturn]] static void refuse(std::string_view type) {
        throw Error(
            "This CatBoost model has splits of type '" + std::string(type) +
            "', on statistics of categories, or on texts. Splits of numbers and of single categories are read: fit the "
            "model with one_hot_max_size=255 or as many categories as there are, or encode such columns as numbers "
            "(sklearn's OrdinalEncoder or TargetEncoder) and fit it without cat_features; or use fasthdmr.HDMR.");
    }

    std::vector<FloatFeature> features_;
    std::vector<Categories> categories_;
};

// A symmetric tree has the same split at all nodes of a level. The k-th split is bit k of a leaf's number, so the last
// one is at the root.
void append_symmetric(const Value& tree, const Splits& split_of, ReadTrees& trees) {
    const Value& splits = tree.at("splits");
    const index depth = splits.size(), width = trees.width;
    if (depth > kDeepestSymmetric) throw Error("The model's export is damaged: a tree is too deep.");
    const index leaves = index(1) << depth;
    const Value& values = tree.array("leaf_values", leaves * width);
    const Value* weights = tree.find("leaf_weights");
    const bool has_weights = weights && weights->size() == leaves;
    const index root = trees.append(2 * leaves - 1);
    for (index level = 0, node = 0; level < depth; ++level) {
        const Split split = split_of(splits.at(depth - 1 - level));
        for (const index end = 2 * node + 1; node < end; ++node)
            split.put(trees, root + node, 2 * node + 1, 2 * node + 2);
    }
    for (index leaf = 0; leaf < leaves; ++leaf) {
        const index at = root + leaves - 1 + leaf;
        trees.weight[at] = has_weights ? weights->number(leaf) : 1.0;
        for (index c = 0; c < width; ++c) trees.value[at * width + c] = values.number(leaf * width + c);
    }
    for (index k = leaves - 2; k >= 0; --k)
        trees.weight[root + k] = trees.weight[root + 2 * k + 1] + trees.weight[root + 2 * k + 2];
    trees.finish_tree();
}

index leaf_width(const Value& leaf) { return leaf.kind() == Value::Kind::array ? leaf.size() : 1; }

// A tree of nested objects. Returns the number of the node in its tree.
index append_nested(const Value& node, const Splits& split_of, ReadTrees& trees) {
    const index at = trees.append(), own = at - trees.tree_offsets.back(), width = trees.width;
    if (const Value* found = node.find("split")) {
        const Split split = split_of(*found);
        const index left = append_nested(node.at("left"), split_of, trees);
        const index right = append_nested(node.at("right"), split_of, trees);
        split.put(trees, at, left, right);
        trees.weight[at] = trees.weight[at - own + left] + trees.weight[at - own + right];
        return own;
    }
    const Value& leaf = node.at("value");
    if (leaf_width(leaf) != width) throw Error("The model's export is damaged: leaves of different lengths.");
    for (index c = 0; c < width; ++c)
        trees.value[at * width + c] = leaf.kind() == Value::Kind::array ? leaf.number(c) : leaf.number();
    const Value* weight = node.find("weight");
    trees.weight[at] = weight ? weight->number() : 1.0;
    return own;
}

index outputs_of(const Value& model) {
    const Value& bias = model.at("scale_and_bias").at(1);
    return bias.kind() == Value::Kind::array ? std::max<index>(1, bias.size()) : 1;
}

}  // namespace

ReadTrees read_catboost_trees(const Value& model) {
    const Splits split_of(model);
    ReadTrees trees;
    trees.width = outputs_of(model);
    if (const Value* symmetric = model.find("oblivious_trees"))
        for (index t = 0; t < symmetric->size(); ++t) {
            poll();
            append_symmetric(symmetric->at(t), split_of, trees);
        }
    if (const Value* nested = model.find("trees"))
        for (index t = 0; t < nested->size(); ++t) {
            poll();
            append_nested(nested->at(t), split_of, trees);
            trees.finish_tree();
        }
    return trees;
}

}  // namespace fasthdmr
