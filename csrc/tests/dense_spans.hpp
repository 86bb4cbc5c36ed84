// Reference spans: dense matrices, evaluated one value at a time.
#pragma once

#include <algorithm>

#include "harness.hpp"
#include "matrix.hpp"
#include "random.hpp"
#include "spans/span_hierarchy.hpp"

namespace fasthdmr {

// The first and the last knot are repeated `degree` more times.
inline std::vector<double> clamped(int degree, const std::vector<double>& breaks) {
    std::vector<double> knots(degree, breaks.front());
    knots.insert(knots.end(), breaks.begin(), breaks.end());
    knots.insert(knots.end(), degree, breaks.back());
    return knots;
}

// All columns of an axis at one value.
inline std::vector<double> axis_columns(const Axis& axis, double x) {
    double values[kMaxRun];
    std::int32_t start;
    axis.to_coordinates(&x, 1);
    axis.evaluate(&x, 1, values, &start);
    std::vector<double> all(axis.columns(), 0.0);
    CHECK(start >= 0 && start + axis.run() <= axis.columns());
    std::copy_n(values, axis.run(), all.begin() + start);
    return all;
}

// (rows, all columns), the constant first.
inline Matrix dense(const Spans& spans, const Matrix& x) {
    Matrix all(x.rows, spans.columns());
    for (index r = 0; r < x.rows; ++r) {
        all(r, 0) = 1.0;
        for (const Span& span : spans.all()) {
            std::vector<double> product{1.0};
            for (const index a : span.axes) {
                std::vector<double> longer;
                const Axis& axis = spans.axes()[a];
                for (const double p : product)
                    for (const double v : axis_columns(axis, x(r, axis.variable()))) longer.push_back(p * v);
                product = longer;
            }
            for (index j = 0; j < span.columns; ++j) all(r, span.first + j) = product[j];
        }
    }
    return all;
}

// Correlated variables. On request some values of variable 1 are missing.
inline Matrix correlated(index rows, std::uint64_t seed, bool missing = true) {
    Random random(seed);
    Matrix x(rows, 3);
    for (index r = 0; r < rows; ++r) {
        const double common = random.uniform(0.0, 0.5);
        for (index j = 0; j < 3; ++j) x(r, j) = common + random.uniform(0.0, 0.5);
        if (missing && random.happens(0.1)) x(r, 1) = std::nan("");
    }
    return x;
}

inline std::vector<double> random_weights(index rows, std::uint64_t seed) {
    Random random(seed);
    std::vector<double> weight(rows);
    for (double& w : weight) w = random.uniform(0.1, 2.0);
    return weight;
}

inline Matrix rows_of(const Matrix& x, index begin, index end) {
    Matrix part(end - begin, x.columns);
    for (index j = 0; j < x.columns; ++j) std::copy(x.column(j) + begin, x.column(j) + end, part.column(j));
    return part;
}

inline Matrix random_matrix(index rows, index columns, std::uint64_t seed) {
    Random random(seed);
    Matrix values(rows, columns);
    for (double& v : values.values) v = random.uniform(-1.0, 1.0);
    return values;
}

// Terms given by their values, (rows, terms). An output is a constant plus the sum of its terms.
class GivenTargets : public Targets {
public:
    GivenTargets(Matrix terms, std::vector<Subspace> subspaces, std::vector<index> output_of,
                 std::vector<double> constants)
        : terms_(std::move(terms)),
          subspaces_(std::move(subspaces)),
          output_of_(std::move(output_of)),
          constants_(std::move(constants)) {}
    index outputs() const override { return index(constants_.size()); }
    index terms() const override { return terms_.columns; }
    index output_of(index term) const override { return output_of_[term]; }
    const Subspace& subspace_of(index term) const override { return subspaces_[term]; }
    void start(const Rows& rows, double* out, index leading) const override {
        for (index k = 0; k < outputs(); ++k) std::fill_n(out + k * leading, rows.count, constants_[k]);
    }
    void fill(const Rows& rows, index first, index last, double* out, index leading) const override {
        for (index t = first; t < last; ++t)
            for (index r = 0; r < rows.count; ++r) out[(t - first) * leading + r] = terms_(rows[r], t);
    }
    GivenTargets part(index begin, index end) const {
        return {rows_of(terms_, begin, end), subspaces_, output_of_, constants_};
    }
    Matrix values() const {
        Matrix all(terms_.rows, outputs());
        for (index k = 0; k < outputs(); ++k) std::fill_n(all.column(k), all.rows, constants_[k]);
        for (index t = 0; t < terms(); ++t)
            for (index r = 0; r < all.rows; ++r) all(r, output_of_[t]) += terms_(r, t);
        return all;
    }

private:
    Matrix terms_;
    std::vector<Subspace> subspaces_;
    std::vector<index> output_of_;
    std::vector<double> constants_;
};

// Covariance of two columns in higher precision.
inline double covariance(const double* a, const double* b, const std::vector<double>& weight) {
    DoubleDouble total, mean_a, mean_b, sum;
    for (std::size_t r = 0; r < weight.size(); ++r) total += weight[r], mean_a += DoubleDouble(weight[r]) * a[r];
    for (std::size_t r = 0; r < weight.size(); ++r) mean_b += DoubleDouble(weight[r]) * b[r];
    mean_a /= total, mean_b /= total;
    for (std::size_t r = 0; r < weight.size(); ++r) sum += weight[r] * (a[r] - mean_a) * (b[r] - mean_b);
    return double(sum / total);
}

// Every degree, fine axes for single variables and coarse ones for products, a missing column.
inline Spans mixed_spans() {
    std::vector<Axis> axes;
    axes.emplace_back(0, 3, clamped(3, {0.0, 0.3, 0.7, 1.0}), false);
    axes.emplace_back(1, 2, clamped(2, {0.0, 0.4, 1.0}), true);
    axes.emplace_back(2, 0, std::vector<double>{0.0, 0.2, 0.5, 0.8, 1.0}, false);
    axes.emplace_back(0, 1, clamped(1, {0.0, 0.5, 1.0}), false);
    axes.emplace_back(1, 1, clamped(1, {0.0, 1.0}), true);
    axes.emplace_back(2, 0, std::vector<double>{0.0, 0.5, 1.0}, false);
    return {axes, {{0}, {1}, {2}, {0, 1}, {1, 2}, {0, 1, 2}}, {{0}, {1}, {2}, {3, 4}, {4, 5}, {3, 4, 5}}};
}

// Cubic splines, those of a variable with other knots alone than with others, some with a missing column.
inline Spans cubic_spans() {
    std::vector<Axis> axes;
    for (index variable = 0; variable < 3; ++variable) {
        axes.emplace_back(variable, 3, clamped(3, {0.0, 0.3, 0.4, 0.7, 1.0}), variable == 1);
        axes.emplace_back(variable, 3, clamped(3, {0.0, 0.4, 1.0}), variable == 1);
    }
    return {
        axes, {{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}}, {{0}, {2}, {4}, {1, 3}, {1, 5}, {3, 5}, {1, 3, 5}}};
}

// Each row of a's entries times those of b, as a matrix stored row-major.
inline std::vector<double> products(const Matrix& a, index a_first, index a_columns, const Matrix& b, index b_first,
                                    index b_columns, const std::vector<double>& weight) {
    std::vector<double> g;
    for (index i = 0; i < a_columns; ++i)
        for (index j = 0; j < b_columns; ++j) {
            DoubleDouble sum;
            for (index r = 0; r < a.rows; ++r) sum += DoubleDouble(weight[r]) * a(r, a_first + i) * b(r, b_first + j);
            g.push_back(double(sum));
        }
    return g;
}

}  // namespace fasthdmr
