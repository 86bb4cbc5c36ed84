// Ridge regression on spans that have a categorical variable in common. Inner products of columns of different levels
// are 0. So the Gram matrix has one block on the diagonal for each level, and a border for all other columns. The
// blocks are eliminated first, which is much faster than a factorisation of the whole matrix if there are many levels.
#pragma once

#include <vector>

#include "spans/span_gram.hpp"

namespace fasthdmr {

class LevelElimination {
public:
    // The categorical variable with the most levels among those of some spans. -1: elimination would not be faster.
    static index variable(const Spans& spans, const Spanning& spanning);

    // Factors the covariance matrix of the columns, plus ridge / p on the diagonal for the columns of a span of p columns.
    LevelElimination(const SpanGram& gram, const Spanning& spanning, double ridge, index variable);
    // b holds one or more right-hand sides, one after the other.
    std::vector<double> solve(const std::vector<double>& b) const;

private:
    // The columns of one span, numbered within it.
    struct Part {
        index span, first;          // its number, and its first column in the system
        std::vector<index> level;   // of each column; -1: none, or several
        std::vector<index> border;  // the columns without a level
        std::vector<std::vector<index>> of_level;
    };

    std::vector<Part> arrange(const Spans& spans, const Spanning& spanning, index variable);
    void fill(const SpanGram& gram, const std::vector<Part>& parts, double ridge);
    void factor();
    void solve_gram(Buffer<double>& grouped, Buffer<double>& others, index count) const;

    index level_columns() const { return begin_.back(); }
    index others() const { return index(order_.size()) - begin_.back(); }

    std::vector<index> order_, place_;  // columns by level, then all others; and the inverse permutation
    std::vector<index> begin_{0};       // by level, and one past the last: its first column in this order
    std::vector<index> block_begin_{0};
    Buffer<double> blocks_, panel_, border_;  // (b, b) for each level, (level columns, others), (others, others)
    std::vector<double> means_, of_means_;    // the means of the columns, and the solution for them
    double remainder_ = 1.0;
};

}  // namespace fasthdmr
