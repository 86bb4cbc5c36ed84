// Products of cubic splines of one variable. Between two knots they are polynomials of degree 6. So sums over rows of
// the 7 Bernstein polynomials on an interval determine the sums of all 16 products of the splines of two axes. Values
// and coefficients are nonnegative, so there is no cancellation.
#pragma once

#include <map>
#include <vector>

#include "spans/bsplines.hpp"

namespace fasthdmr {

constexpr int kProductRun = 8;  // Bernstein polynomials of degree 6, and a 0

// The Bernstein polynomials of degree 6 on the intervals between the knots of several axes of one variable.
class ProductBasis {
public:
    explicit ProductBasis(const std::vector<const Axis*>& axes);

    const Axis& axis() const { return axis_; }  // one of them
    // Eight columns for each interval.
    index columns() const { return (intervals() + (has_missing_ ? 1 : 0)) * kProductRun; }
    // Writes the values at x of the polynomials on its interval; returns the column of the first.
    index evaluate(double x, double* values) const;
    // Transforms sums of the polynomials, (columns(), n), to sums of the products of the splines of two axes, (columns
    // of a, columns of b, n). If b is null, to sums of the splines of a.
    Buffer<double> expand(const Buffer<double>& sums, const Axis& a, const Axis* b) const;

private:
    index intervals() const { return index(breaks_.size()) - 1; }

    const Axis& axis_;
    bool has_missing_;  // then missing values have an interval of their own, the last
    std::vector<double> breaks_;
};

// The bases for the products of all pairs of spans, and their values at a block of rows.
class ProductBases {
public:
    // The axes of a variable that occur in spans of at most two variables share one basis, provided that the basis has
    // few columns compared with the number of rows.
    ProductBases(const Spans& spans, index rows);
    // The number of the basis for the products of two axes, which is created if necessary; -1 if these are not cubic
    // splines of the same coordinate.
    index add(index a, index b);
    // Whether the splines of an axis lie in the span of a basis.
    bool contains(index number, index axis) const;
    void reserve(index rows);
    void load(const Table& x, const Rows& rows, int n_threads);

    index size() const { return index(bases_.size()); }
    index row_bytes() const { return size() * index(kProductRun * sizeof(double) + sizeof(std::int32_t)); }
    const ProductBasis& operator[](index k) const { return bases_[k]; }
    const double* values(index k) const { return values_.data() + k * capacity_ * kProductRun; }  // kProductRun a row
    const std::int32_t* starts(index k) const { return starts_.data() + k * capacity_; }

private:
    using Axes = std::vector<index>;

    ProductBasis make(const Axes& axes) const;

    const Spans& spans_;
    std::vector<Axes>
        shared_with_;  // by axis: the axes that share its basis, itself included; empty if it is not shared
    std::map<Axes, index> number_;
    std::vector<ProductBasis> bases_;
    std::vector<Axes> axes_of_;
    index capacity_ = 0;
    Buffer<double> values_;
    std::vector<std::int32_t> starts_;
};

}  // namespace fasthdmr
