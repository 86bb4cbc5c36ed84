// Products of cubic splines of one variable. Between two knots they are polynomials of degree 6, so that 7 sums over
// rows, those of the Bernstein polynomials of the interval, hold all 16 products of two axes. All numbers are positive:
// nothing cancels.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "spans/bsplines.hpp"

namespace fasthdmr {

constexpr int kProductRun = 8;  // Bernstein polynomials of degree 6, and a 0

class AxisProduct {
public:
    AxisProduct(const Axis& a, const Axis& b);

    index columns() const { return index(cells_.size()) * kProductRun; }
    // Writes the values of a cell's polynomials at x; returns the column of the first.
    index evaluate(double x, double* values) const;
    // From sums with all polynomials, (columns(), n), those with products of splines, (columns of a, columns of b, n).
    Buffer<double> expand(const Buffer<double>& sums) const;

private:
    struct Cell {
        double products[kProductRun][kMaxRun * kMaxRun];  // by polynomial, of splines of a and of b
        index a, b;                                       // the first of these splines
    };

    const Axis& axis_;
    std::vector<double> breaks_;
    std::vector<Cell> cells_;  // between breaks, then that of missing values
    index columns_a_, columns_b_;
};

// The products of axes that are multiplied in some pairs of spans, and their values at the rows of a block.
class AxisProducts {
public:
    explicit AxisProducts(const Spans& spans) : spans_(spans) {}
    // Sees to it that the product is there. False if it is not one of cubics on one line.
    bool add(index a, index b);
    void reserve(index rows);
    void load(const Table& x, const Rows& rows, int n_threads);

    index size() const { return index(products_.size()); }
    index row_bytes() const { return size() * index(kProductRun * sizeof(double) + sizeof(std::int32_t)); }
    index number(index a, index b) const { return number_.at({a, b}); }
    const AxisProduct& operator[](index k) const { return products_[k]; }
    const double* values(index k) const { return values_.data() + k * capacity_ * kProductRun; }  // kProductRun a row
    const std::int32_t* starts(index k) const { return starts_.data() + k * capacity_; }

private:
    const Spans& spans_;
    std::map<std::pair<index, index>, index> number_;  // -1: there is none
    std::vector<AxisProduct> products_;
    std::vector<index> variable_;
    index capacity_ = 0;
    Buffer<double> values_;
    std::vector<std::int32_t> starts_;
};

}  // namespace fasthdmr
