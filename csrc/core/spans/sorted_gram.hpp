// Products of two spans of cubic splines: sums over rows of tensor products, where a variable of one span gives its
// four splines, and one of both the polynomials that hold the products of its splines.
#pragma once

#include "spans/axis_products.hpp"

namespace fasthdmr {

class SpanProducts {
public:
    // Whether two spans can be multiplied so, and it pays: many rows. The products of axes are prepared.
    static bool prepare(const Spans& spans, AxisProducts& axes, const Span& a, const Span& b, index rows);

    SpanProducts(const Spans& spans, const AxisProducts& axes, const Span& a, const Span& b);
    // Adds the weighted sums over the rows of a block.
    void add(const SpanBlock& block, const double* weight);
    // The products, (columns of a, columns of b), row-major. The sums are given up.
    std::vector<double> take();

private:
    struct Factor {
        bool is_shared;
        index number, columns;      // of its axis, or its product of axes
        std::vector<index> places;  // of the columns of its axes, or pairs of these, among the products

        int run() const { return is_shared ? kProductRun : kMaxRun; }
    };

    const AxisProducts& axes_;
    std::vector<Factor> factors_;
    std::vector<std::int32_t> offsets_;
    Buffer<double> sums_;  // aligned, so that the polynomials of an interval lie in one cache line
};

}  // namespace fasthdmr
