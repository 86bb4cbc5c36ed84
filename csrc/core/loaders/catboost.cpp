#include "loaders/catboost.hpp"

#include <algorithm>
#include <memory>

#include "support/interruption.hpp"

namespace fasthdmr {

namespace {

constexpr index kDeepestSymmetric = 30;  // 2^depth leaves

[[noreturn]] void refuse(std::string_view type) {
    throw Error(
        "This CatBoost model has splits of type '" + std::string(type) +
        "', on statistics of categories, or on texts. Splits of numbers and of single categories are read: fit the "
        "model with one_hot_max_size=255 or as many categories as there are, or encode such columns as numbers "
        "(sklearn's OrdinalEncoder or TargetEncoder) and fit it without cat_features; or use fasthdmr.HDMR.");
}

// What goes to the right child: numbers above a border, or one category. The document describes the features, perhaps
// after the trees. Until then nodes have the position of their feature among those of its kind, and sets have the hash
// of their category (`Features::resolve`).
struct Split {
    std::int64_t feature;
    double border;
    bool is_category;  // `border` is its hash

    void put(ReadTrees& trees, index node, index left, index right) const {
        if (!is_category) return trees.split(node, feature, border, false, left, right);
        trees.split_by_set(node, feature, false, right, left);
        trees.append_interval(border, border);
    }
};

class SplitReader {
public:
    Split read(const Value& split) {
        const std::string_view type = split.at(type_).text();
        if (type == "OneHotFeature") return {split.at(category_).integer(), double(split.at(hash_).integer()), true};
        if (type != "FloatFeature") refuse(type);
        return {split.at(number_).integer(), split.at(border_).number(), false};
    }

private:
    Key type_{"split_type"}, category_{"cat_feature_index"}, hash_{"value"}, number_{"float_feature_index"},
        border_{"border"};
};

class Features {
public:
    explicit Features(const Value& model) {
        const Value* found = model.at("features_info").find("float_features");
        for (index k = 0; k < (found ? found->size() : 0); ++k) {
            const Value& all = *found;
            const std::string_view nan = all.at(k).at("nan_value_treatment").text();
            if (nan != "AsIs" && nan != "AsFalse" && nan != "AsTrue")
                throw Error("Missing values of this CatBoost model are treated in an unknown way: '" +
                            std::string(nan) + "'.");
            // NaN counts as -infinity (AsFalse) or +infinity (AsTrue); if AsIs, the comparison with a border is false.
            floats_.push_back({all.at(k).at("flat_feature_index").integer(), nan != "AsTrue"});
        }
        const Value* categorical = model.at("features_info").find("categorical_features");
        for (index k = 0; k < (categorical ? categorical->size() : 0); ++k) {
            const Value& feature = categorical->at(k);
            Categories categories{feature.at("flat_feature_index").integer(), {}};
            const Value* hashes = feature.find("values");
            for (index h = 0; h < (hashes ? hashes->size() : 0); ++h) categories.hashes.push_back(hashes->integer(h));
            categories_.push_back(std::move(categories));
        }
    }

    // Replaces positions of features by columns of X, and hashes by their places among those of the column.
    void resolve(ReadTrees& trees) const {
        for (index m = 0; m < trees.n_nodes(); ++m) {
            if (trees.left[m] == -1) continue;
            const std::int64_t feature = trees.feature[m];
            if (const index set = trees.category_set.empty() ? -1 : trees.category_set[m]; set >= 0) {
                const Categories& found = at(categories_, feature, "no such feature of categories");
                const double place = found.place(std::int64_t(trees.intervals[2 * set]));
                trees.intervals[2 * set] = trees.intervals[2 * set + 1] = place;
                trees.feature[m] = found.column;
            } else {
                const FloatFeature& found = at(floats_, feature, "no such feature");
                trees.feature[m] = found.column;
                trees.missing_left[m] = found.missing_left;
            }
        }
    }

private:
    struct FloatFeature {
        std::int64_t column;
        bool missing_left;
    };

    struct Categories {
        std::int64_t column;
        std::vector<std::int64_t> hashes;

        double place(std::int64_t hash) const {
            const auto at = std::find(hashes.begin(), hashes.end(), hash);
            if (at == hashes.end()) throw Error("The model's export is damaged: no such category.");
            return double(at - hashes.begin());
        }
    };

    template <class Feature>
    static const Feature& at(const std::vector<Feature>& features, std::int64_t k, const char* what) {
        if (k < 0 || k >= std::int64_t(features.size()))
            throw Error(std::string("The model's export is damaged: ") + what + ".");
        return features[k];
    }

    std::vector<FloatFeature> floats_;
    std::vector<Categories> categories_;
};

// A symmetric tree has the same split at all nodes of a level. The k-th split is bit k of a leaf's number, so the last
// one is at the root.
class SymmetricReader {
public:
    explicit SymmetricReader(ReadTrees& trees) : trees_(trees) {}

    void append(const Value& tree) {
        const Value& splits = tree.at(splits_);
        const index depth = splits.size();
        if (depth > kDeepestSymmetric) throw Error("The model's export is damaged: a tree is too deep.");
        const index leaves = index(1) << depth;
        if (trees_.n_trees() == 0) trees_.width = std::max<index>(1, tree.at(leaf_values_).size() / leaves);
        tree.array(leaf_values_, leaves * trees_.width).numbers(values_);
        const Value* weights = tree.find(leaf_weights_);
        if (weights && weights->size() == leaves) weights->numbers(weights_of_leaves_);
        else weights_of_leaves_.assign(leaves, 1.0);
        const index root = trees_.append(2 * leaves - 1), first_leaf = root + leaves - 1;
        for (index level = 0, node = 0; level < depth; ++level) {
            const Split split = split_.read(splits.at(depth - 1 - level));
            for (const index end = 2 * node + 1; node < end; ++node)
                split.put(trees_, root + node, 2 * node + 1, 2 * node + 2);
        }
        std::copy(weights_of_leaves_.begin(), weights_of_leaves_.end(), &trees_.weight[first_leaf]);
        std::copy(values_.begin(), values_.end(), &trees_.value[first_leaf * trees_.width]);
        for (index k = leaves - 2; k >= 0; --k)
            trees_.weight[root + k] = trees_.weight[root + 2 * k + 1] + trees_.weight[root + 2 * k + 2];
        trees_.finish_tree();
    }

private:
    ReadTrees& trees_;
    SplitReader split_;
    Key splits_{"splits"}, leaf_values_{"leaf_values"}, leaf_weights_{"leaf_weights"};
    std::vector<double> values_, weights_of_leaves_;
};

index leaf_width(const Value& leaf) { return leaf.kind() == Value::Kind::array ? leaf.size() : 1; }

// A tree of nested objects. Returns the number of the node in its tree.
index append_nested(const Value& node, SplitReader& reader, ReadTrees& trees) {
    const index at = trees.append(), own = at - trees.tree_offsets.back(), width = trees.width;
    if (const Value* found = node.find("split")) {
        const Split split = reader.read(*found);
        const index left = append_nested(node.at("left"), reader, trees);
        const index right = append_nested(node.at("right"), reader, trees);
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

std::function<void(const Value&)> reader_of_symmetric_trees(ReadTrees& trees) {
    const auto reader = std::make_shared<SymmetricReader>(trees);
    return [reader](const Value& tree) { reader->append(tree); };
}

void finish_catboost(const Value& model, ReadTrees& trees) {
    const index width = outputs_of(model);
    if (trees.n_trees() == 0) trees.width = width;
    if (trees.width != width) throw Error("The model's export is damaged: leaves of different lengths.");
    SplitReader reader;
    if (const Value* nested = model.find("trees"))
        for (index t = 0; t < nested->size(); ++t) {
            poll();
            append_nested(nested->at(t), reader, trees);
            trees.finish_tree();
        }
    Features(model).resolve(trees);
}

}  // namespace fasthdmr
