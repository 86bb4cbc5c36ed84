#include "loaders/exports.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

#include "forest/forest.hpp"
#include "harness.hpp"
#include "loaders/lightgbm.hpp"
#include "loaders/model_document.hpp"
#include "loaders/number_text.hpp"

namespace fasthdmr {

namespace {

using Integers = std::vector<std::int64_t>;
using Numbers = std::vector<double>;

ReadTrees read_xgboost(const std::string& bytes) { return ModelDocument(bytes).trees(); }
ReadTrees read_catboost(const std::string& bytes) { return ModelDocument(bytes).trees(); }

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
}

}  // namespace

TEST(documents_of_both_kinds) {
    const Document json(R"( {"a": [1, -2.5e3, true, null], "b\n\u00e9\ud83d\ude00": {"c": "\"x\\"}} )");
    const Value& a = json.root().at("a");
    CHECK(a.size() == 4 && a.number(1) == -2500.0 && a.at(2).boolean() && a.at(3).kind() == Value::Kind::null);
    CHECK(json.root().at("b\n\xC3\xA9\xF0\x9F\x98\x80").at("c").text() == "\"x\\");
    const std::string bytes = "{" + ubjson::key("a") + ubjson::floats({1.5f, -2.0f}) + ubjson::key("b") + "[TZ]}";
    const Document binary(bytes);
    CHECK(binary.root().at("a").number(1) == -2.0 && binary.root().at("b").at(0).boolean());
}

TEST(numbers_are_read_as_by_from_chars) {
    const auto parsed = [](std::string_view text, std::size_t used, std::errc error = std::errc()) {
        double value = 7.0;  // stays after an error
        const auto [end, code] = parse_number(text.data(), text.data() + text.size(), value);
        CHECK(end == text.data() + used && code == error);
        return value;
    };
    const double infinity = std::numeric_limits<double>::infinity();
    CHECK(parsed("12", 2) == 12.0 && parsed("-2.5e3,", 6) == -2500.0 && parsed(".5", 2) == 0.5 &&
          parsed("1.", 2) == 1.0);
    CHECK(parsed("0.1 ", 3) == 0.1 && parsed("1e", 1) == 1.0 && parsed("1e+", 1) == 1.0 && parsed("1e5x", 3) == 1e5);
    CHECK(parsed("2.2250738585072011e-308", 23) == 2.2250738585072011e-308);  // once an endless loop of strtod
    CHECK(parsed("4e-324", 6) == 4e-324 && parsed("-1e-310", 7) == -1e-310);
    CHECK(parsed("12345678901234567890", 20) == 12345678901234567890.0 && parsed("0x1.8p3", 1) == 0.0);
    CHECK(parsed("1.5-2", 3) == 1.5 && std::signbit(parsed("-0", 2)) && std::signbit(parsed("-0.0", 4)));
    CHECK(parsed("inf", 3) == infinity && parsed("-Infinity", 9) == -infinity && std::isnan(parsed("nan", 3)));
    for (const char* text : {"", "-", "+1", "+1.5", " 1.5", "x", ".", "-e5", "e"})
        CHECK(parsed(text, 0, std::errc::invalid_argument) == 7.0);
    for (const char* text : {"1e999", "-1e999", "1e-400", "-1e-400"})
        CHECK(parsed(text, std::strlen(text), std::errc::result_out_of_range) == 7.0);
}

TEST(damaged_documents_are_errors) {
    for (const char* bytes : {"", "{", "[1,]", "[1 2]", "{\"a\" 1}", "nul", "\"\\ud800\"", "[1] 2", "1e", "{L", "{i"})
        CHECK_THROWS(Error, "damaged", Document{bytes});
    CHECK_THROWS(Error, "too many levels", Document(std::string(100000, '[')));
    std::string nested = "{i\1a";
    CHECK_THROWS(Error, "too many levels", Document(nested + std::string(100000, '[')));
    CHECK_THROWS(Error, "more than the rest", Document(nested + "[$d#L" + ubjson::big_endian(1ull << 62, 8)));
    CHECK_THROWS(Error, "no field 'b'", Document("{\"a\": 1}").root().at("b"));
    CHECK_THROWS(Error, "whole number", Document("[1.5]").root().integer(0));
    CHECK_THROWS(Error, "too short", Document("[1.5]").root().number(1));
    CHECK_THROWS(Error, "cannot hold", Document("1e999"));
}

TEST(items_are_read_while_the_document_is_parsed) {
    std::vector<std::string> found;
    const auto read = [&](const Value& item) { found.emplace_back(item.at("b").text()); };
    const auto parsed = [&](const std::string& bytes) {
        found.clear();
        const Document document(bytes, {{{"o", "a"}, read}});
        const Value &a = document.root().at("o").at("a"), &after = document.root().at("z");
        return a.size() == 0 && after.size() == 2 && after.number(1) == 2.0;
    };
    // Items at other paths are kept: here within an array, within an item, and at the root.
    CHECK(parsed(R"({"a": [{"b": "k"}], "y": [{"o": {"a": [{"b": "k"}]}}],
"o": {"a": [{"b": "1\n", "o": {"a": [{"b": "k"}]}}, {"c": [1, 2], "b": "2"}]}, "z": [1, 2]})"));
    CHECK(found == (std::vector<std::string>{"1\n", "2"}));
    using namespace ubjson;
    const std::string item = "{" + key("b") + text("1") + "}", z = key("z") + floats({1.0f, 2.0f}) + "}";
    for (const std::string& items : {"[#" + length(2) + item + item, "[" + item + item + "]"}) {
        CHECK(parsed("{" + key("o") + "{" + key("a") + items + "}" + z));
        CHECK(found == (std::vector<std::string>{"1", "1"}));
    }
    const Document numbers(R"({"o": {"a": [1, 2]}})", {{{"o", "a"}, read}});
    CHECK(numbers.root().at("o").at("a").integer(1) == 2);
    CHECK_THROWS(Error, "no field 'b'", Document(R"({"o": {"a": [{}]}})", {{{"o", "a"}, read}}));
}

TEST(documents_are_recognised_by_content) {
    CHECK(ModelDocument(xgboost_json()).library() == Library::xgboost);
    CHECK(ModelDocument(catboost_json()).library() == Library::catboost);
    for (const char* other : {"[]", "{}", "1", R"({"tree_info": []})", R"({"features_info": {}})"})
        CHECK_THROWS(Error, "no model of xgboost", ModelDocument{other});
    const std::string dart =
        replaced(replaced(xgboost_json(), R"("model":)", R"("gbtree": {"model":)"), "]}}}}", "]}}}}}");
    CHECK(read_xgboost(dart).n_nodes() == read_xgboost(xgboost_json()).n_nodes());
}

TEST(numbers_of_xgboost_are_float32_in_decimals_too) {
    const ReadTrees trees = read_xgboost(replaced(xgboost_json(), "-1.25", "0.1"));
    CHECK(trees.value[1] == double(0.1f));
}

TEST(vector_leaves_of_xgboost_without_weights) {
    const std::string vector = R"({"learner": {"gradient_booster": {"model": {"tree_info": [0], "trees": [
{"left_children": [1, -1, -1], "right_children": [2, -1, -1], "split_indices": [0, 0, 0],
 "split_conditions": [0.5, 0, 0], "default_left": [1, 0, 0], "base_weights": [0, 0, 1, 2, 3, 4],
 "tree_param": {"num_nodes": "3", "size_leaf_vector": "2"}}]}}}})";
    const ReadTrees trees = read_xgboost(vector);
    CHECK(trees.weight == (Numbers{1.0, 1.0, 1.0}) && trees.value == (Numbers{0, 0, 1, 2, 3, 4}));
    CHECK_THROWS(Error, "sum_hessian", read_xgboost(replaced(xgboost_json(), R"("sum_hessian": [9, 4, 5, 0],)", "")));
}

TEST(trees_of_xgboost) {
    const ReadTrees trees = read_xgboost(xgboost_json());
    CHECK(trees.tree_offsets == (Integers{0, 3, 4}));
    CHECK(trees.left == (Integers{1, -1, -1, -1}) && trees.right == (Integers{2, -1, -1, -1}));
    CHECK(trees.feature[0] == 1 && trees.missing_left[0] == 1);
    CHECK(trees.threshold[0] == double(std::nextafter(0.5f, 0.0f)));
    CHECK(trees.value == (Numbers{0.0, -1.25, 2.0, 0.75}) && trees.weight == (Numbers{9.0, 4.0, 5.0, 9.0}));
    const ReadTrees binary = read_xgboost(xgboost_ubjson());
    CHECK(binary.tree_offsets == (Integers{0, 3}) && binary.threshold[0] == trees.threshold[0]);
    CHECK(binary.value == (Numbers{0.0, -1.25, 2.0}) && binary.missing_left[0] == 1);
}

TEST(trees_of_xgboost_that_are_refused) {
    const std::string good = xgboost_json();
    CHECK_THROWS(Error, "without its categories",
                 read_xgboost(replaced(good, "\"split_type\": [0", "\"split_type\": [1")));
    CHECK_THROWS(Error, "is no tree", read_xgboost(replaced(good, "\"left_children\": [1", "\"left_children\": [0")));
    CHECK_THROWS(Error, "is no tree", read_xgboost(replaced(good, "\"left_children\": [1", "\"left_children\": [9")));
    CHECK_THROWS(Error, "no nodes", read_xgboost(replaced(good, "\"num_nodes\": \"4\"", "\"num_nodes\": \"5\"")));
    CHECK_THROWS(Error, "different lengths",
                 read_xgboost(replaced(good, "\"1\"}}]", "\"2\"}, \"base_weights\": [1, 2]}]")));
}

TEST(trees_of_catboost) {
    const ReadTrees trees = read_catboost(catboost_json());
    CHECK(trees.width == 2 && trees.n_nodes() == 7);
    CHECK(trees.feature[0] == 0 && trees.threshold[0] == -1.0 && trees.missing_left[0] == 0);
    CHECK(trees.feature[2] == 2 && trees.threshold[2] == 0.25 && trees.missing_left[2] == 1);
    CHECK(trees.value == (Numbers{0, 0, 0, 0, 0, 0, 0, 10, 1, 11, 2, 12, 3, 13}));
    CHECK(trees.weight == (Numbers{10, 3, 7, 1, 2, 3, 4}));
    const ReadTrees nested = read_catboost(catboost_nested_json());
    CHECK(nested.tree_offsets == (Integers{0, 3, 4}) && nested.value == (Numbers{0.0, -1.0, 4.0, 0.5}));
    CHECK(nested.weight == (Numbers{5, 3, 2, 1}) && nested.missing_left[0] == 1);
    CHECK_THROWS(Error, "'OnlineCtr', on statistics of categories",
                 read_catboost(replaced(catboost_json(), "\"FloatFeature\"", "\"OnlineCtr\"")));
    CHECK_THROWS(Error, "should have 4", read_catboost(replaced(catboost_json(), "3, 13", "3")));
    CHECK_THROWS(Error, "leaves of different lengths", read_catboost(replaced(catboost_json(), "[0, 0]]", "[0]]")));
    // The description of the features after the trees.
    const std::string good = catboost_json();
    const auto scale = good.find("\"scale_and_bias\"");
    const std::string features = good.substr(1, scale - 1), rest = good.substr(scale, good.size() - 1 - scale);
    const ReadTrees same = read_catboost("{" + rest + ", " + features + "\"end\": 0}");
    CHECK(same.feature == trees.feature && same.missing_left == trees.missing_left && same.value == trees.value);
}

TEST(trees_of_catboost_that_split_by_one_category) {
    const std::string good = catboost_one_hot_json();
    const ReadTrees trees = read_catboost(good);
    CHECK(trees.feature[0] == 3 && trees.category_set == (Integers{0, -1, -1}) && trees.missing_left[0] == 0);
    CHECK(trees.intervals == (Numbers{1.0, 1.0}) && trees.left[0] == 2 && trees.right[0] == 1);
    CHECK(trees.value == (Numbers{0.0, 5.0, 7.0}));
    const auto refused = [&](const char* from, const char* to) { return read_catboost(replaced(good, from, to)); };
    CHECK_THROWS(Error, "no such category", refused("\"value\": 1121341681", "\"value\": 3"));
    CHECK_THROWS(Error, "no such feature of categories",
                 refused("\"cat_feature_index\": 0", "\"cat_feature_index\": 1"));
}

TEST(trees_of_lightgbm) {
    const LightgbmModel model = read_lightgbm(lightgbm_text());
    const ReadTrees& trees = model.trees;
    CHECK(model.header[3].first == "max_feature_idx" && model.header[4].first == "average_output");
    CHECK(trees.tree_offsets == (Integers{0, 5, 6}));
    CHECK(trees.left == (Integers{1, 2, -1, -1, -1, -1}) && trees.right == (Integers{4, 3, -1, -1, -1, -1}));
    CHECK(trees.threshold[1] == 4.0000000000000009 && trees.feature[0] == 2);
    CHECK(trees.missing_left[0] == 0 && trees.missing_left[1] == 1);  // 0 > -0.5; to the left by default
    CHECK(trees.value == (Numbers{0.0, 0.0, 1.0, 2.5, -3e-5, 0.25}));
    CHECK(trees.weight == (Numbers{12, 7, 3, 4, 5, 1}));
    CHECK(model.zero_is_missing == (std::vector<std::uint8_t>{0, 0, 0}));
    const auto zero = read_lightgbm(replaced(lightgbm_text(), "decision_type=0 10", "decision_type=4 4"));
    CHECK(zero.zero_is_missing == (std::vector<std::uint8_t>{1, 0, 1}));
}

TEST(splits_by_categories) {
    const ReadTrees trees = read_lightgbm(replaced(lightgbm_text(),
                                                   "num_cat=0\nsplit_feature=2 0\nthreshold=-0.5 4.0000000000000009\n"
                                                   "decision_type=0 10",
                                                   "num_cat=1\nsplit_feature=2 0\nthreshold=0 4\ndecision_type=1 10\n"
                                                   "cat_boundaries=0 2\ncat_threshold=1 2"))
                                .trees;
    CHECK(trees.category_set == (Integers{0, -1, -1, -1, -1, -1}) && trees.missing_left[0] == 0);
    CHECK(trees.intervals ==
          (Numbers{std::nextafter(-1.0, 0.0), std::nextafter(1.0, 0.0), 33.0, std::nextafter(34.0, 0.0)}));
    const ReadTrees swapped = read_xgboost(replaced(
        xgboost_json(), "\"split_type\": [0, 0, 0, 0]",
        "\"split_type\": [1, 0, 0, 0], \"categories_nodes\": [0], \"categories_segments\": [1], \"categories_sizes\": "
        "[1], \"categories\": [7, 3]"));
    CHECK(swapped.left[0] == 2 && swapped.right[0] == 1 && swapped.missing_left[0] == 0);
    CHECK(swapped.category_set[0] == 0 && swapped.intervals == (Numbers{3.0, double(std::nextafter(4.0f, 0.0f))}));
}

// Two splits by the same categories: with many, a small file would need much memory.
TEST(splits_that_share_categories_are_refused) {
    const auto read = [](const char* thresholds) {
        return read_lightgbm(replaced(
            lightgbm_text(), "threshold=-0.5 4.0000000000000009\ndecision_type=0 10",
            std::string("decision_type=1 1\ncat_boundaries=0 2 3\ncat_threshold=1 2 4\n") + "threshold=" + thresholds));
    };
    CHECK(read("0 1").trees.set_offsets == (Integers{0, 2, 3}));
    CHECK_THROWS(Error, "share categories", read("0 0"));
    const std::string tree = R"({"learner": {"gradient_booster": {"model": {"trees": [
{"left_children": [1, 3, -1, -1, -1], "right_children": [2, 4, -1, -1, -1], "split_indices": [0, 0, 0, 0, 0],
 "split_conditions": [0, 0, 1, 2, 3], "default_left": [0, 0, 0, 0, 0], "sum_hessian": [3, 2, 1, 1, 1],
 "split_type": [1, 1, 0, 0, 0], "categories_nodes": [0, 1], "categories_segments": [0, 1], "categories_sizes": [1, 1],
 "categories": [7, 3], "tree_param": {"num_nodes": "5", "size_leaf_vector": "1"}}]}}}})";
    CHECK(read_xgboost(tree).set_offsets == (Integers{0, 1, 2}));
    CHECK_THROWS(Error, "share categories", read_xgboost(replaced(tree, "_sizes\": [1, 1]", "_sizes\": [2, 1]")));
}

TEST(trees_of_lightgbm_that_are_refused) {
    const std::string good = lightgbm_text();
    const auto refused = [&](const char* from, const char* to) { return read_lightgbm(replaced(good, from, to)); };
    CHECK_THROWS(Error, "no such set of categories", refused("decision_type=0", "decision_type=1"));
    CHECK_THROWS(Error, "linear_tree", refused("is_linear=0", "is_linear=1"));
    CHECK_THROWS(Error, "zero_as_missing",
                 read_lightgbm(replaced(replaced(good, "decision_type=0 10", "decision_type=4 10"), "split_feature=2 0",
                                        "split_feature=2 2")));
    CHECK_THROWS(Error, "no such column", refused("split_feature=2", "split_feature=3"));
    CHECK_THROWS(Error, "without leaves", refused("num_leaves=3", "num_leaves=3000000000"));
    CHECK_THROWS(Error, "a number is missing", refused("leaf_value=1 2.5 -3e-5", "leaf_value=1 2.5"));
    CHECK_THROWS(Error, "ends within", refused("end of trees", ""));
    CHECK_THROWS(Error, "ends before", read_lightgbm(good.substr(0, good.find("Tree=0"))));
    CHECK_THROWS(Error, "out of range", refused("leaf_value=1 ", "leaf_value=1e999 "));
    CHECK_THROWS(Error, "columns is out of range", refused("max_feature_idx=2", "max_feature_idx=9223372036854775807"));
}

}  // namespace fasthdmr
