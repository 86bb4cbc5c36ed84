// The triangle by way of products, R'R = X'X: several times faster than reflections, and nearly as accurate where the
// columns are far from dependent. It measures whether they are, and refuses otherwise.
#pragma once

#include <optional>

#include "streaming_qr.hpp"

namespace fasthdmr {

class CholeskyQr {
public:
    explicit CholeskyQr(index columns) : n_(columns), products_(columns * columns, 0.0) {}

    // As for a triangle.
    void absorb(double* block, index rows, index leading);
    void merge(const CholeskyQr& other);

    // None where the condition is larger. The error of R, times the inverse of the true R, is about eps times the square
    // of the condition where that of reflections is eps times the condition.
    std::optional<Triangle> triangle(double max_condition = kMaxCondition) const;

    // Of the columns scaled to unit norm, by the 1-norm of their products: two or three times the usual one.
    static constexpr double kMaxCondition = 256.0;

private:
    index n_;
    Buffer<double> products_;  // n x n, column-major, lower
};

}  // namespace fasthdmr
