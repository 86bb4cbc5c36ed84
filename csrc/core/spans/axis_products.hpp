// Products of cubic splines of one variable. Between two knots they are polynomials of degree 6, so that sums over rows
// of the 7 Bernstein polynomials of an interval give all 16 products of two axes. All numbers are positive, so nothing
// cancels.
#pragma once

#include <map>
#include <vector>

#include "spans/bsplines.hpp"

namespace fasthdmr {

constexpr int kProductRun = 8;  // Bernstein polynomials of degree 6, and a 0

// The Bernstein polynomials on the intervals between the knots of some axes of one coordinate.
class ProductBasis {
public:
    explicit ProductBasis(const std::vector<const Axis*>& axes);

    const Axis& axis() const { return axis_; }  // one of them
    index columns() const { return (intervals() + (has_missing_ ? 1 : 0)) * kProductRun; }
    // Writes the values of an interval's polynomials at x; returns the column of the first.
    index evaluate(double x, double* values) const;
    // From sums with all polynomials, (columns(), n), those with the products of the splines of two axes, (columns of
    // a, columns of b, n), or, if b is null, with the splines of a.
    Buffer<double> expand(const Buffer<double>& sums, const Axis& a, const Axis* b) const;

private:
    index intervals() const { return index(breaks_.size()) - 1; }

    const Axis& axis_;
    bool has_missing_;  // then a last interval stands for missing values
    std::vector<double> breaks_;
};

// Bases of the products that pairs of spans need, and their values at the rows of a block.
class ProductBases {
public:
    // Axes of a variable, in spans of at most two variables, share a basis if it is small beside the number of rows.
    ProductBases(const Spans& spans, index rows);
    // The number of a basis for the products of two axes, which is made if it is new; -1 if they are not cubics of one
    // coordinate.
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
    std::vector<Axes> shared_with_;  // by axis: those that share a basis with it, itself included; or none
    std::map<Axes, index> number_;
    std::vector<ProductBasis> bases_;
    std::vector<Axes> axes_of_;
    index capacity_ = 0;
    Buffer<double> values_;
    std::vector<std::int32_t> starts_;
};

}  // namespace fasthdmr
