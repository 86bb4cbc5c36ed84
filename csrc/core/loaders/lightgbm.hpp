// Reader of LightGBM models in the text format of `Booster.save_model`.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "loaders/read_trees.hpp"

namespace fasthdmr {

struct LightgbmModel {
    // The lines before the trees: names and values.
    std::vector<std::pair<std::string, std::string>> header;
    ReadTrees trees;
    // By column: whether values near zero are treated as missing, by all splits on the column.
    std::vector<std::uint8_t> zero_is_missing;
};

// A row goes left if x <= threshold, in float64, or if x, truncated, is one of the categories of the split.
LightgbmModel read_lightgbm(std::string_view text);

}  // namespace fasthdmr
