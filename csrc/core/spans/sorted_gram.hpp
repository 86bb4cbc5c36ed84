// Products of pairs of spans of cubic splines, from sums over rows of tensor products: a variable of one span gives its
// four splines, and one of both the polynomials that hold the products of its splines.
#pragma once

#include <utility>

#include "spans/axis_products.hpp"

namespace fasthdmr {

// By variable of either span, the number of a product basis, or ~axis.
using TensorFactors = std::vector<std::pair<index, index>>;

// The factors whose sums give the products of two spans; none if there are none, or the rows are too few to pay.
TensorFactors tensor_factors(const Spans& spans, ProductBases& bases, const Span& a, const Span& b, index rows);

// Whether sums of some factors hold those of others: they have a basis where these have splines that lie in it.
bool holds(const ProductBases& bases, const TensorFactors& some, const TensorFactors& others);

class TensorSums {
public:
    TensorSums(const Spans& spans, const ProductBases& bases, const TensorFactors& factors);
    // Adds the weighted sums over the rows of a block.
    void add(const SpanBlock& block, const double* weight);
    // The products of two spans, (columns of a, columns of b), row-major.
    std::vector<double> products(const Span& a, const Span& b) const;
    void clear() { sums_ = {}; }

private:
    struct Factor {
        index variable, number;  // of a product basis, or ~axis
        index columns;

        bool is_basis() const { return number >= 0; }
        int run() const { return is_basis() ? kProductRun : kMaxRun; }
    };

    const std::int32_t* starts(const SpanBlock& block, const Factor& factor) const;

    const Spans& spans_;
    const ProductBases& bases_;
    std::vector<Factor> factors_;
    std::vector<std::int32_t> offsets_;
    Buffer<double> sums_;  // aligned, so that the polynomials of an interval lie in one cache line
};

}  // namespace fasthdmr
