// Gram blocks of tensor-product cubic splines, from sums over rows of other tensor products. A variable that occurs in
// one of the two spans contributes its four splines, a variable of both the Bernstein polynomials of degree 6 that the
// products of its splines are combinations of.
#pragma once

#include <utility>

#include "spans/product_basis.hpp"

namespace fasthdmr {

// For each variable of the two spans, in order: the variable, and the number of a product basis, or ~axis.
using TensorFactors = std::vector<std::pair<index, index>>;

// The factors whose sums determine the Gram block of two spans. Empty if a spline is not cubic, or if there are fewer
// rows than half the number of products.
TensorFactors tensor_factors(const Spans& spans, ProductBases& bases, const Span& a, const Span& b, index rows);

// Whether the sums of `some` determine those of `others`: the factors are equal, or a product basis that contains the
// splines of an axis takes the place of that axis.
bool holds(const ProductBases& bases, const TensorFactors& some, const TensorFactors& others);

class TensorSums {
public:
    TensorSums(const Spans& spans, const ProductBases& bases, const TensorFactors& factors);
    // Adds the weighted sums over a block of rows.
    void add(const SpanBlock& block, const double* weight);
    // The Gram block of two spans, (columns of a, columns of b), row-major.
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
    Buffer<double> sums_;  // aligned: the polynomials of an interval are one cache line
};

}  // namespace fasthdmr
