// The trees of LightGBM, from the text that `Booster.save_model` writes.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "loaders/read_trees.hpp"

namespace fasthdmr {

struct LightgbmModel {
    // The lines in front of the trees: names, and what stands behind '='.
    std::vector<std::pair<std::string, std::string>> header;
    ReadTrees trees;
    // By column: whether values near zero are missing ones, which then all splits on the column agree about.
    std::vector<std::uint8_t> zero_is_missing;
};

// Splits ask for x <= threshold, in float64, or for the category that x is after truncation.
LightgbmModel read_lightgbm(std::string_view text);

}  // namespace fasthdmr
