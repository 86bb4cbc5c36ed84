// Cholesky QR: R is the Cholesky factor of the Gram matrix X'X. It is several times faster than Householder
// reflections, and nearly as accurate if X is well conditioned. The condition number is estimated, and an
// ill-conditioned X is rejected.
#pragma once

#include <optional>

#include "linalg/triangle.hpp"

namespace fasthdmr {

class CholeskyQr {
public:
    explicit CholeskyQr(index columns) : n_(columns), gram_(columns * columns, 0.0) {}

    // Adds the rows of a block, or of another part of the data, as Triangle does.
    void absorb(double* block, index rows, index leading);
    void merge(const CholeskyQr& other);

    // R, or nullopt if X is too ill-conditioned: if the inverse Gram matrix of the columns scaled to unit norm has a
    // larger 1-norm. The relative error (R - R*) R*^-1, R* the exact factor, is about eps times that norm. In
    // experiments with accepted columns it was at most 50 eps times the condition number; with Householder reflections
    // it is a few eps times the condition number.
    std::optional<Triangle> triangle(double largest_inverse = kLargestInverse) const;

    const Buffer<double>& gram() const { return gram_; }  // n x n, column-major, lower

    static constexpr double kLargestInverse = 2500.0;  // such that errors stay below 1e-12

private:
    index n_;
    Buffer<double> gram_;
};

}  // namespace fasthdmr
