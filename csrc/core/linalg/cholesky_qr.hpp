// The triangle by way of products, R'R = X'X: several times faster than reflections, and nearly as accurate where the
// columns are far from dependent. It measures whether they are, and refuses otherwise.
#pragma once

#include <optional>

#include "linalg/triangle.hpp"

namespace fasthdmr {

class CholeskyQr {
public:
    explicit CholeskyQr(index columns) : n_(columns), products_(columns * columns, 0.0) {}

    // As for a triangle.
    void absorb(double* block, index rows, index leading);
    void merge(const CholeskyQr& other);

    // None where the inverse of the products, of columns scaled to unit norm, is larger in the 1-norm. The error of R,
    // times the inverse of the true R, is about eps times that norm, where that of reflections is a few eps times the
    // condition: for the columns that are taken it was at most 50 eps times the condition.
    std::optional<Triangle> triangle(double largest_inverse = kLargestInverse) const;

    const Buffer<double>& products() const { return products_; }  // n x n, column-major, lower

    static constexpr double kLargestInverse = 2500.0;  // so errors stay below 1e-12

private:
    index n_;
    Buffer<double> products_;
};

}  // namespace fasthdmr
