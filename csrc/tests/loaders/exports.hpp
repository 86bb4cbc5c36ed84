// Small model exports in the formats of other libraries.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace fasthdmr {

// Two trees of xgboost: a split at 0.5 whose missing values go left, and a leaf. Node 3 has been pruned.
inline std::string xgboost_json() {
    return R"({"learner": {"gradient_booster": {"name": "gbtree", "model": {"tree_info": [0, 0], "trees": [
{"left_children": [1, -1, -1, -1], "right_children": [2, -1, -1, -1], "split_indices": [1, 0, 0, 0],
 "split_conditions": [0.5, -1.25, 2, 7], "default_left": [1, 0, 0, 0], "sum_hessian": [9, 4, 5, 0],
 "split_type": [0, 0, 0, 0], "tree_param": {"num_nodes": "4", "size_leaf_vector": "1"}},
{"left_children": [-1], "right_children": [-1], "split_indices": [0], "split_conditions": [0.75],
 "default_left": [0], "sum_hessian": [9], "tree_param": {"num_nodes": "1", "size_leaf_vector": "1"}}]}}}})";
}

namespace ubjson {

inline std::string big_endian(std::uint64_t bits, int bytes) {
    std::string result;
    for (int k = bytes - 1; k >= 0; --k) result += char(bits >> (8 * k) & 0xFF);
    return result;
}
inline std::string length(std::size_t n) { return "L" + big_endian(n, 8); }
inline std::string key(const std::string& name) { return length(name.size()) + name; }
inline std::string text(const std::string& value) { return "S" + key(value); }
inline std::string integers(const std::vector<std::int32_t>& values) {
    std::string result = "[$l#" + length(values.size());
    for (const std::int32_t v : values) result += big_endian(std::uint32_t(v), 4);
    return result;
}
inline std::string floats(const std::vector<float>& values) {
    std::string result = "[$d#" + length(values.size());
    for (const float v : values) {
        std::uint32_t bits;
        std::memcpy(&bits, &v, sizeof bits);
        result += big_endian(bits, 4);
    }
    return result;
}

}  // namespace ubjson

// The first of these trees alone.
inline std::string xgboost_ubjson() {
    using namespace ubjson;
    const std::string tree = "{" + key("left_children") + integers({1, -1, -1, -1}) + key("right_children") +
                             integers({2, -1, -1, -1}) + key("split_indices") + integers({1, 0, 0, 0}) +
                             key("split_conditions") + floats({0.5f, -1.25f, 2.0f, 7.0f}) + key("default_left") +
                             "[$U#" + length(4) + std::string("\1\0\0\0", 4) + key("sum_hessian") +
                             floats({9.0f, 4.0f, 5.0f, 0.0f}) + key("tree_param") + "{" + key("num_nodes") + text("4") +
                             key("size_leaf_vector") + text("1") + "}}";
    return "{" + key("learner") + "{" + key("gradient_booster") + "{" + key("model") + "{" + key("tree_info") + "[#" +
           length(1) + std::string("i\0", 2) + key("trees") + "[#" + length(1) + tree + "}}}}";
}

// A symmetric tree of depth 2 on columns 2 and 0, with two outputs.
inline std::string catboost_json() {
    return R"({"features_info": {"float_features": [
{"flat_feature_index": 0, "nan_value_treatment": "AsTrue"}, {"flat_feature_index": 2, "nan_value_treatment": "AsIs"}]},
"scale_and_bias": [1, [0, 0]], "oblivious_trees": [{"leaf_values": [0, 10, 1, 11, 2, 12, 3, 13],
"leaf_weights": [1, 2, 3, 4], "splits": [
{"border": 0.25, "float_feature_index": 1, "split_type": "FloatFeature"},
{"border": -1, "float_feature_index": 0, "split_type": "FloatFeature"}]}]})";
}

inline std::string catboost_nested_json() {
    return R"({"features_info": {"float_features": [{"flat_feature_index": 0, "nan_value_treatment": "AsFalse"}]},
"scale_and_bias": [1, [0]], "trees": [{"left": {"value": -1, "weight": 3}, "right": {"value": [4], "weight": 2},
"split": {"border": 0.5, "float_feature_index": 0, "split_type": "FloatFeature"}}, {"value": 0.5}]})";
}

// One split by the second of two categories of column 3.
inline std::string catboost_one_hot_json() {
    return R"({"features_info": {"categorical_features": [{"flat_feature_index": 3, "values": [-805065478, 1121341681]}]},
"scale_and_bias": [1, [0]], "oblivious_trees": [{"leaf_values": [5, 7], "leaf_weights": [1, 2], "splits": [
{"cat_feature_index": 0, "split_index": 0, "split_type": "OneHotFeature", "value": 1121341681}]}]})";
}

// A tree with three leaves: a split that treats NaN as 0, and one whose NaN goes left.
inline std::string lightgbm_text() {
    return "tree\nversion=v4\nnum_tree_per_iteration=1\nmax_feature_idx=2\naverage_output\n\nTree=0\nnum_leaves=3\n"
           "num_cat=0\nsplit_feature=2 0\nthreshold=-0.5 4.0000000000000009\ndecision_type=0 10\nleft_child=1 -1\n"
           "right_child=-3 -2\nleaf_value=1 2.5 -3e-5\nleaf_count=3 4 5\ninternal_count=12 "
           "7\nis_linear=0\nshrinkage=1\n\n\n"
           "Tree=1\nnum_leaves=1\nleaf_value=0.25\n\nend of trees\n\nparameters:\n";
}

}  // namespace fasthdmr
