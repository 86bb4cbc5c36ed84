// Function spaces (spans) of few variables: B-splines of one variable, tensor products of these for several (spec 4).
// B-splines have local support, so a row of the design matrix has few nonzeros. These are computed when needed; the
// design matrix is not stored.
#pragma once

#include <utility>
#include <vector>

#include "support/arrays.hpp"
#include "support/subspace.hpp"

namespace fasthdmr {

// The normal scores of a skewed variable. Its splines are functions of these scores. The scores are interpolated
// linearly in a table, and constant outside it. Without a table, the score is the value itself.
class NormalScores {
public:
    NormalScores() = default;
    NormalScores(std::vector<double> values, std::vector<double> scores);

    // Replaces values by their scores.
    void replace(double* x, index rows) const;
    bool operator==(const NormalScores& other) const { return values_ == other.values_ && scores_ == other.scores_; }

private:
    std::vector<double> values_, scores_;
};

// The B-splines of one variable (or one column of a group), or of its normal scores, on a clamped knot sequence. B-splines of degree 0 are the
// indicator functions of bins. A variable with missing values has one more column, the indicator of missing values;
// the splines are 0 at missing values. The values of a categorical variable are codes of levels, and its columns are
// indicator functions of levels, or of several levels with consecutive codes. All are 0 at codes outside the knots.
class Axis {
public:
    Axis(index variable, int degree, std::vector<double> knots, bool missing_column, NormalScores scores = {},
         bool is_categorical = false);

    index variable() const { return variable_; }
    const std::vector<double>& knots() const { return knots_; }
    bool has_missing_column() const { return missing_column_; }
    bool is_categorical() const { return is_categorical_; }
    // Whether a column of a categorical variable is the indicator of one level only.
    bool is_one_level(index column) const { return knots_[column + 1] - knots_[column] == 1.0; }
    // Whether both axes have the same variable, the same scores and the same first and last knot.
    bool shares_line(const Axis& other) const;
    int run() const { return degree_ + 1; }
    index columns() const { return splines_ + (missing_column_ ? 1 : 0); }
    // Replaces values by the arguments of the splines: the values themselves, or their normal scores.
    void to_coordinates(double* x, index rows) const { scores_.replace(x, rows); }
    // Writes the run() values at each coordinate that may be nonzero, kMaxRun a row, and the column of the first. A coordinate
    // outside the knots is replaced by the nearest end, unless the variable is categorical.
    void evaluate(const double* coordinates, index rows, double* values, std::int32_t* starts) const;
    // On the interval of x the splines are cubic polynomials. Writes the blossoms (polar forms) of these at three
    // arguments. If each argument is an end of an interval, these are Bernstein coefficients on that interval.
    index blossom(double x, const double (&at)[3], double* values) const;

private:
    index interval(double x) const;
    index evaluate_one(double coordinate, double* values) const;
    void evaluate_cubics(const double* coordinates, index rows, double* values, std::int32_t* starts) const;

    index variable_;
    int degree_;
    std::vector<double> knots_;
    bool missing_column_;
    NormalScores scores_;
    bool is_categorical_;
    index splines_;
};

constexpr int kMaxRun = 4;  // degree <= 3

// The tensor-product splines of a subspace; the index of the last axis varies fastest. Axes are functions of columns of
// X, in the order of the columns. A variable is one column, or a group of columns with an axis for each of them.
struct Span {
    Subspace subspace;
    std::vector<index> axes;
    index first;  // its first column among those of all spans; the constant is column 0
    index columns;
    index values;  // number of nonzeros of a row
    index runs;    // number of runs of consecutive columns that contain the nonzeros
    int run;       // length of a run
};

// The spans of a decomposition, ordered by subspace.
class Spans {
public:
    Spans(std::vector<Axis> axes, std::vector<Subspace> subspaces, std::vector<std::vector<index>> axes_of);

    const std::vector<Axis>& axes() const { return axes_; }
    const std::vector<Span>& all() const { return spans_; }
    index columns() const { return columns_; }  // the constant included
    index n_features() const { return n_features_; }
    // The number of the span of a subspace, or -1.
    index find(const Subspace& u) const;

private:
    std::vector<Axis> axes_;
    std::vector<Span> spans_;
    index columns_ = 1, n_features_ = 0;
};

using Spanning = std::vector<index>;                     // numbers of spans, ascending
using SpanPairs = std::vector<std::pair<index, index>>;  // first <= second

// The spans of subspaces inside u of at most `order` variables.
Spanning spans_inside(const Spans& spans, const Subspace& u, index order);

// The nonzeros of a block of rows of the design matrix.
class SpanBlock {
public:
    SpanBlock(const Spans& spans, index capacity);
    // Evaluates the splines of all axes, or of the chosen ones.
    void load(const Table& x, const Rows& rows, int n_threads = 1);
    void load(const Table& x, const Rows& rows, const std::vector<index>& axes, int n_threads);
    // The nonzeros of one span at the loaded rows first, ..., first + count - 1.
    void expand(const Span& span, index first, index count, std::vector<double>& values,
                std::vector<std::int32_t>& starts) const;

    index rows() const { return rows_; }
    const double* values(index axis) const { return values_.data() + axis * capacity_ * kMaxRun; }  // kMaxRun a row
    const std::int32_t* starts(index axis) const { return starts_.data() + axis * capacity_; }

private:
    void expand_pair(const Span& span, index first, index count, double* value, std::int32_t* start) const;

    const Spans& spans_;
    index capacity_, rows_ = 0;
    UnsetBuffer<double> values_;        // axis, row, run
    UnsetBuffer<std::int32_t> starts_;  // axis, row
};

}  // namespace fasthdmr
