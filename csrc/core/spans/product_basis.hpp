// Products of cubic splines of one variable. Between two knots they are polynomials of degree 6. So sums over rows of a
// basis of these, 7 polynomials on each interval, determine the sums of all 16 products of the splines of two axes. The
// first four polynomials are a basis of the cubics: their sums determine those of single splines.
#pragma once

#include <map>
#include <vector>

#include "kernels/cell_records.hpp"
#include "spans/bsplines.hpp"

namespace fasthdmr {

constexpr int kProductRun = 8;  // the polynomials of an interval, and a 0

// On each interval between the knots of some axes of one variable: a basis of the polynomials of degree 6 and, where
// another axis, the inner one, has knots inside, truncated cubics, so that its splines lie in the span. A truncated
// cubic is 0 on one side of such a knot, and 1 at the far end of the interval on the other.
class ProductBasis {
public:
    // Without an inner axis `inner` is null.
    explicit ProductBasis(const std::vector<const Axis*>& axes, const Axis* inner = nullptr);
    // Whether there can be such a basis: truncated cubics are few, and not nearly dependent.
    static bool exists(const Axis& axis, const Axis& inner);

    const Axis& axis() const { return axis_; }  // one of them
    // Number of functions of an interval.
    int functions() const { return functions_; }
    // Intervals, and one for missing values if there are any.
    index cells() const { return intervals() + (has_missing_ ? 1 : 0); }
    CellInterval interval(index cell) const {
        return {inside_[cell].data(), int(inside_[cell].size()), functions_, cell == intervals()};
    }
    // The cell of each x, and its coordinate, from 0 to 1 on the interval.
    void locate(const double* x, index rows, double* coordinates, std::int32_t* cells) const;
    // Writes the values at each x of the polynomials on its interval, kProductRun of them, and the column of the first.
    void evaluate(const double* x, index rows, double* values, std::int32_t* starts) const;
    // How many of the functions of an interval determine the splines of an axis.
    int needed(const Axis& axis) const { return &axis == inner_ ? functions_ : kCubics; }
    // The products of the splines of two axes, or the splines of one if b is null, as linear combinations of the first
    // `run` functions of each cell: the coefficients, (cells(), run, columns of a, columns of b). Products need all
    // polynomials, single splines only the cubics and, for the inner axis, the truncated ones.
    Buffer<double> expansion(int run, const Axis& a, const Axis* b) const;

private:
    struct Spline {
        index column;
        double coefficients[kMostFunctions];
    };

    index intervals() const { return index(breaks_.size()) - 1; }
    std::vector<double> knots_inside(index cell) const;
    std::vector<Spline> splines_of(const Axis& axis, index cell) const;

    const Axis& axis_;
    const Axis* inner_;
    bool has_missing_;  // then missing values have an interval of their own, the last
    int functions_ = kPolynomials;
    std::vector<double> breaks_;
    std::vector<std::vector<TruncatedCubic>> inside_;  // by cell
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
    // The number of the basis on the intervals of one axis, with the knots of another one inside; -1 if there is none.
    index add_with_inner(index axis, index inner);
    // Whether the splines of an axis lie in the span of a basis.
    bool contains(index number, index axis) const;
    // Makes room for the values of the bases with the numbers `used` at some rows. Only these are loaded.
    void reserve(index rows, const std::vector<index>& used);
    void load(const Table& x, const Rows& rows, int n_threads);

    static constexpr index kRowBytes = kProductRun * sizeof(double) + sizeof(std::int32_t);  // for a basis

    index size() const { return index(bases_.size()); }
    const ProductBasis& operator[](index k) const { return bases_[k]; }
    const double* values(index k) const { return values_.data() + place_[k] * capacity_ * kProductRun; }
    const std::int32_t* starts(index k) const { return starts_.data() + place_[k] * capacity_; }

private:
    using Axes = std::vector<index>;

    ProductBasis make(const Axes& axes) const;

    const Spans& spans_;
    std::vector<Axes>
        shared_with_;  // by axis: the axes that share its basis, itself included; empty if it is not shared
    std::map<Axes, index> number_;
    std::map<std::pair<index, index>, index> number_with_inner_;
    std::vector<ProductBasis> bases_;
    std::vector<Axes> axes_of_;
    index capacity_ = 0;
    std::vector<index> used_, place_;  // the bases that are loaded; by number: the place among these
    UnsetBuffer<double> values_;       // kProductRun for each row of a basis
    std::vector<std::int32_t> starts_;
};

}  // namespace fasthdmr
