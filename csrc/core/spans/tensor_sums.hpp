// Gram blocks of tensor-product cubic splines, from sums over rows of other tensor products. A variable that occurs in
// one of the two spans has four splines as factors. For a variable that occurs in both, the factors are the Bernstein
// polynomials of degree 6: products of two splines are linear combinations of these.
#pragma once

#include <functional>
#include <utility>

#include "spans/product_basis.hpp"
#include "spans/tensor_layout.hpp"

namespace fasthdmr {

// A variable (column of X) of two spans: its axis in each span (-1 if it does not occur there), and the strides of the
// columns of these axes in the Gram block.
struct CommonVariable {
    index variable, axis_a, axis_b, stride_a, stride_b;
};

// Calls `call` for each variable of two spans, in ascending order.
void for_variables(const Spans& spans, const Span& a, const Span& b,
                   const std::function<void(const CommonVariable&)>& call);

// For each variable of the two spans, in order: the variable, and the number of a product basis, or ~axis.
using TensorFactors = std::vector<std::pair<index, index>>;

// The factors of the products whose sums determine the Gram block of two spans. Empty if a spline is not cubic, or if
// the block has many entries for each row.
TensorFactors tensor_factors(const Spans& spans, ProductBases& bases, const Span& a, const Span& b, index rows);

// Whether the sums for the factors `some` determine the sums for `others`: each factor is equal, or it is a product
// basis that contains the splines of the axis in `others`.
bool determines(const ProductBases& bases, const TensorFactors& some, const TensorFactors& others);

// A factor of summed products: the first polynomials of the cells of a product basis, `run` of each, or, without a
// basis, the splines of an axis.
struct SummedFactor {
    index variable;
    const ProductBasis* basis;
    int run;
    index columns;
};

// The Gram block of two spans, (columns of a, columns of b), row-major, from sums of products of factors: an array of
// their columns, row-major. Shared variables come last, because they have more columns in the block than factors.
std::vector<double> expand_products(const Spans& spans, const Span& a, const Span& b,
                                    const std::vector<SummedFactor>& factors, Buffer<double> sums);

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
    TensorLayout layout_;
    Buffer<double> sums_;  // aligned, so that the polynomials of an interval fill one cache line
};

}  // namespace fasthdmr
