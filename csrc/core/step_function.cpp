#include "step_function.hpp"

#include <algorithm>
#include <limits>

#include "input_block.hpp"

namespace fasthdmr {

StepFunction::StepFunction(const Forest& forest, const std::vector<index>& trees, index value_column)
    : variable_(forest.tree(trees.front())->feature) {
    std::vector<Jump> jumps;
    for (const index t : trees) collect(forest, t, value_column, jumps);
    const auto comes_before = [](const Jump& a, const Jump& b) { return a.threshold < b.threshold; };
    std::stable_sort(jumps.begin(), jumps.end(), comes_before);
    for (const Jump& jump : jumps) {
        if (thresholds_.empty() || thresholds_.back() < jump.threshold) {
            thresholds_.push_back(jump.threshold);
            values_.push_back(values_.back());
        }
        values_.back() += jump.change;
    }
}

// Visits the pieces of the line from left to right: the first one's value is where the function starts, every other
// one's a jump at its lower end.
void StepFunction::collect(const Forest& forest, index t, index value_column, std::vector<Jump>& jumps) {
    const Node* tree = forest.tree(t);
    const double* values = forest.values(t) + value_column;
    const auto ends = [&](index m) { return Forest::is_leaf(tree, m) || tree[m].feature != variable_; };
    struct Piece {  // node m holds low < x <= high
        index m;
        float low, high;
        bool leftmost;  // x <= high, -inf too
    };
    constexpr float infinity = std::numeric_limits<float>::infinity();
    std::vector<Piece> pieces{{0, -infinity, infinity, true}};
    double before = values[0];
    while (!pieces.empty()) {
        const Piece piece = pieces.back();
        pieces.pop_back();
        if (ends(piece.m)) {
            const double value = values[piece.m * forest.width()];
            if (piece.leftmost)
                values_[0] += value - before;
            else
                jumps.push_back({piece.low, value - before});
            before = value;
            continue;
        }
        const index left = tree[piece.m].left;
        const float at = tree[piece.m].threshold;
        if (at < piece.high) pieces.push_back({left + 1, std::max(piece.low, at), piece.high, false});
        if (at > piece.low || piece.leftmost)
            pieces.push_back({left, piece.low, std::min(piece.high, at), piece.leftmost});
    }
    index m = 0;
    while (!ends(m)) m = tree[m].left + !forest.missing_left(t)[m];
    missing_ += values[m * forest.width()] - values[0];
}

// A binary search of all rows side by side: no branch depends on a row.
void StepFunction::add(const float* x, index rows, double* out) const {
    std::int32_t rank[kBlockRows] = {};
    for (std::int32_t left = std::int32_t(thresholds_.size()); left > 0;) {
        const std::int32_t half = (left + 1) / 2;
        const float* probe = thresholds_.data() + half - 1;
        for (index r = 0; r < rows; ++r) rank[r] += std::int32_t(probe[rank[r]] < x[r]) * half;
        left -= half;
    }
    for (index r = 0; r < rows; ++r) out[r] += std::isnan(x[r]) ? missing_ : values_[rank[r]];
}

}  // namespace fasthdmr
