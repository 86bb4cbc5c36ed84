#include "spans/bsplines.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "kernels/kernels.hpp"
#include "spans/column_tiles.hpp"

namespace fasthdmr {

NormalScores::NormalScores(std::vector<double> values, std::vector<double> scores)
    : values_(std::move(values)), scores_(std::move(scores)) {
    if (values_.size() != scores_.size() || values_.size() == 1)
        throw Error("a score is needed for each of several values");
    for (std::size_t i = 0; i < values_.size(); ++i)
        if (!std::isfinite(scores_[i]) || !std::isfinite(values_[i]) || (i > 0 && !(values_[i] > values_[i - 1])))
            throw Error("values must be finite and rise, and scores be finite");
    if (!std::is_sorted(scores_.begin(), scores_.end())) throw Error("scores must rise");
    if (!values_.empty() && !std::isfinite(values_.back() - values_.front()))
        throw Error("the range of the values overflows");
}

void NormalScores::replace(double* x, index rows) const {
    if (!values_.empty()) kernels().interpolate(values_.data(), scores_.data(), index(values_.size()), x, rows);
}

Axis::Axis(index variable, int degree, std::vector<double> knots, bool missing_column, NormalScores scores,
           bool is_categorical)
    : variable_(variable),
      degree_(degree),
      knots_(std::move(knots)),
      missing_column_(missing_column),
      scores_(std::move(scores)),
      is_categorical_(is_categorical),
      splines_(index(knots_.size()) - degree - 1) {
    if (degree < 0 || degree >= kMaxRun)
        throw Error("the degree of a spline must be 0 to 3, got " + std::to_string(degree));
    if (splines_ < degree + 1) throw Error("an axis needs at least degree + 1 splines");
    if (is_categorical && degree > 0) throw Error("the columns of a categorical variable have degree 0");
    if (variable < 0) throw Error("no such variable: " + std::to_string(variable));
    for (const double k : knots_)
        if (!std::isfinite(k)) throw Error("knots must be finite and rise");
    if (!std::is_sorted(knots_.begin(), knots_.end()) || !std::isfinite(knots_.back() - knots_.front()))
        throw Error("knots must be finite and rise");
    // The recursion needs end knots of multiplicity degree + 1, and divides by the length of the interval of x. Among
    // intervals with an x only the last can be empty, because every x at or above its end is assigned to it.
    if (degree == 0) return;
    if (knots_[0] != knots_[degree] || knots_[splines_] != knots_.back() || knots_[splines_ - 1] == knots_[splines_])
        throw Error("knots must be clamped, the last interval not empty");
}

bool Axis::shares_line(const Axis& other) const {
    return variable_ == other.variable_ && knots_.front() == other.knots_.front() &&
           knots_.back() == other.knots_.back() && scores_ == other.scores_;
}

// The index of the knot at the start of the interval of x, the last one of equal knots.
index Axis::interval(double x) const {
    index last = degree_;
    for (index k = degree_ + 1; k < splines_; ++k) last += knots_[k] <= x;
    return last;
}

// The Cox-de Boor recursion with a different argument at each step.
index Axis::blossom(double x, const double (&at)[3], double* values) const {
    const index interval = this->interval(x);
    values[0] = 1.0;
    for (int d = 1; d <= 3; ++d) {
        double saved = 0.0;
        for (int r = 0; r < d; ++r) {
            const double right = knots_[interval + r + 1] - at[d - 1], left = at[d - 1] - knots_[interval + 1 - d + r];
            const double part = right / (right + left) * values[r], rest = values[r] - part;
            values[r] = saved + part;
            saved = rest;
        }
        values[d] = saved;
    }
    return interval - degree_;
}

// The Cox-de Boor recursion on the interval of x.
index Axis::evaluate_one(double x, double* values) const {
    if (std::isnan(x)) {
        // The run ends at the last column, which is that of missing values. Without this column, all values are 0.
        std::fill(values, values + run(), 0.0);
        if (missing_column_) values[degree_] = 1.0;
        return columns() - run();
    }
    if (is_categorical_ && !(x >= knots_.front() && x < knots_.back())) {
        values[0] = 0.0;
        return 0;
    }
    x = std::min(std::max(x, knots_.front()), knots_.back());
    const index interval = this->interval(x);
    double left[kMaxRun], right[kMaxRun];
    values[0] = 1.0;
    for (int d = 1; d <= degree_; ++d) {
        left[d] = x - knots_[interval + 1 - d];
        right[d] = knots_[interval + d] - x;
        double saved = 0.0;
        for (int r = 0; r < d; ++r) {
            // The ratio of two lengths does not overflow, even if the interval is very short.
            const double share = right[r + 1] / (right[r + 1] + left[d - r]);
            const double part = share * values[r];
            const double rest = values[r] - part;
            values[r] = saved + part;
            saved = rest;
        }
        values[d] = saved;
    }
    return interval - degree_;
}

void Axis::evaluate(const double* coordinates, index rows, double* values, std::int32_t* starts) const {
    if (run() == kMaxRun && !is_categorical_) return evaluate_cubics(coordinates, rows, values, starts);
    for (index r = 0; r < rows; ++r) starts[r] = std::int32_t(evaluate_one(coordinates[r], values + r * kMaxRun));
}

void Axis::evaluate_cubics(const double* coordinates, index rows, double* values, std::int32_t* starts) const {
    constexpr index kRows = 256;
    double inside[kRows];
    for (index first = 0; first < rows;
         first += kRows, coordinates += kRows, values += kRows * kMaxRun, starts += kRows) {
        const index count = std::min(kRows, rows - first);
        bool is_missing = false;
        for (index r = 0; r < count; ++r) {
            inside[r] = std::min(std::max(coordinates[r], knots_.front()), knots_.back());
            is_missing |= std::isnan(coordinates[r]);
        }
        kernels().locate(knots_.data() + degree_, splines_ - degree_ + 1, inside, count, starts);
        kernels().evaluate_cubics(knots_.data(), starts, inside, count, values);
        for (index r = 0; r < count && is_missing; ++r)
            if (std::isnan(coordinates[r]))
                starts[r] = std::int32_t(evaluate_one(coordinates[r], values + r * kMaxRun));
    }
}

Spans::Spans(std::vector<Axis> axes, std::vector<Subspace> subspaces, std::vector<std::vector<index>> axes_of)
    : axes_(std::move(axes)) {
    for (const Axis& axis : axes_) n_features_ = std::max(n_features_, axis.variable() + 1);
    for (std::size_t s = 0; s < subspaces.size(); ++s) {
        if (s > 0 && !precedes(subspaces[s - 1], subspaces[s])) throw Error("subspaces must be in order");
        if (subspaces[s].size() > axes_of[s].size() || axes_of[s].empty())
            throw Error("a span needs an axis for each variable");
        Span span{subspaces[s], axes_of[s], columns_, 1, 1, 1, 1};
        for (std::size_t k = 0; k < span.axes.size(); ++k) {
            const Axis& axis = axes_.at(span.axes[k]);
            if (k > 0 && axis.variable() <= axes_[span.axes[k - 1]].variable()) throw Error("axes must be in order");
            span.columns *= axis.columns();
            span.values *= axis.run();
            span.run = axis.run();
        }
        span.runs = span.values / span.run;
        columns_ += span.columns;
        spans_.push_back(std::move(span));
    }
}

index Spans::find(const Subspace& u) const {
    const auto found = std::lower_bound(spans_.begin(), spans_.end(), u, [](const Span& span, const Subspace& wanted) {
        return precedes(span.subspace, wanted);
    });
    return found != spans_.end() && found->subspace == u ? index(found - spans_.begin()) : -1;
}

Spanning spans_inside(const Spans& spans, const Subspace& u, index order) {
    Spanning result;
    std::vector<Subspace> subsets{{}};
    for (const std::int32_t variable : u)
        for (std::size_t k = 0, n = subsets.size(); k < n; ++k)
            if (index(subsets[k].size()) < order) {
                subsets.push_back(subsets[k]);
                subsets.back().push_back(variable);
                if (const index s = spans.find(subsets.back()); s >= 0) result.push_back(s);
            }
    std::sort(result.begin(), result.end());
    return result;
}

namespace {

// The chosen axes of each coordinate.
std::vector<std::vector<index>> lines_of(const std::vector<Axis>& axes, const std::vector<index>& chosen) {
    std::vector<std::vector<index>> lines;
    std::map<index, std::vector<std::size_t>> of_variable;
    for (const index a : chosen) {
        std::vector<std::size_t>& known = of_variable[axes[a].variable()];
        const auto shared = std::find_if(known.begin(), known.end(), [&](std::size_t line) {
            return axes[a].shares_line(axes[lines[line].front()]);
        });
        if (shared != known.end()) {
            lines[*shared].push_back(a);
        } else {
            known.push_back(lines.size());
            lines.push_back({a});
        }
    }
    return lines;
}

}  // namespace

SpanBlock::SpanBlock(const Spans& spans, index capacity)
    : spans_(spans),
      capacity_(capacity),
      values_(spans.axes().size() * capacity * kMaxRun),
      starts_(spans.axes().size() * capacity) {}

void SpanBlock::load(const Table& x, const Rows& rows, int n_threads) {
    std::vector<index> all(spans_.axes().size());
    std::iota(all.begin(), all.end(), index(0));
    load(x, rows, all, n_threads);
}

// Axes that share a coordinate are evaluated together, because normal scores take longer than splines.
void SpanBlock::load(const Table& x, const Rows& rows, const std::vector<index>& axes, int n_threads) {
    rows_ = rows.count;
    const std::vector<std::vector<index>> lines = lines_of(spans_.axes(), axes);
    std::vector<ColumnUse> uses;
    for (const std::vector<index>& line : lines)
        uses.emplace_back(spans_.axes()[line.front()].variable(), index(uses.size()));
    std::sort(uses.begin(), uses.end());
    for_tiles(x, rows, uses, n_threads, [&](index k, index first, double* tile, index count) {
        spans_.axes()[lines[k].front()].to_coordinates(tile, count);
        for (const index a : lines[k]) {
            const index begin = a * capacity_ + first;
            spans_.axes()[a].evaluate(tile, count, values_.data() + begin * kMaxRun, starts_.data() + begin);
        }
    });
}

// The tensor product of two axes, or the values of one.
void SpanBlock::expand_pair(const Span& span, index first, index count, double* value, std::int32_t* start) const {
    const index a = span.axes.front(), b = span.axes.back();
    const bool is_pair = span.axes.size() == 2;
    const int n = is_pair ? spans_.axes()[a].run() : 1, run = span.run;
    const std::int32_t columns = std::int32_t(spans_.axes()[b].columns());
    static constexpr double one[kMaxRun] = {1.0};
    for (index r = first; r < first + count; ++r) {
        const double *head = is_pair ? values(a) + r * kMaxRun : one, *tail = values(b) + r * kMaxRun;
        const std::int32_t begin = (is_pair ? starts(a)[r] * columns : 0) + starts(b)[r];
        for (int i = 0; i < n; ++i) {
            *start++ = begin + i * columns;
            for (int j = 0; j < run; ++j) *value++ = head[i] * tail[j];
        }
    }
}

void SpanBlock::expand(const Span& span, index first, index count, std::vector<double>& values,
                       std::vector<std::int32_t>& starts) const {
    values.resize(count * span.values);
    starts.resize(count * span.runs);
    if (span.axes.size() <= 2) return expand_pair(span, first, count, values.data(), starts.data());
    for (index r = 0; r < count; ++r) {
        double* value = values.data() + r * span.values;
        std::int32_t* start = starts.data() + r * span.runs;
        value[0] = 1.0;
        start[0] = 0;
        index n_values = 1, n_starts = 1;
        // The product is formed in place, axis by axis. Values are processed from the last to the first, because each
        // is replaced by several.
        for (std::size_t k = 0; k < span.axes.size(); ++k) {
            const Axis& axis = spans_.axes()[span.axes[k]];
            const double* factor = this->values(span.axes[k]) + (first + r) * kMaxRun;
            const index begin = this->starts(span.axes[k])[first + r];
            const bool last = k + 1 == span.axes.size();
            for (index i = n_values - 1; i >= 0; --i) {
                const double v = value[i];
                const index s = start[std::min(i, n_starts - 1)];
                for (int j = axis.run() - 1; j >= 0; --j) value[i * axis.run() + j] = v * factor[j];
                if (last) start[i] = std::int32_t(s * axis.columns() + begin);
                else
                    for (int j = axis.run() - 1; j >= 0; --j)
                        start[i * axis.run() + j] = std::int32_t(s * axis.columns() + begin + j);
            }
            n_values *= axis.run();
            n_starts = last ? n_starts : n_starts * axis.run();
        }
    }
}

}  // namespace fasthdmr
