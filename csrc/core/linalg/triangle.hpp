// The triangle: R of the QR of all rows, a block of rows at a time. Triangles of parts of the data merge.
#pragma once

#include "support/arrays.hpp"

namespace fasthdmr {

class Triangle {
public:
    explicit Triangle(index columns);

    index columns() const { return n_; }
    double& at(index i, index j) { return r_[j * n_ + i]; }
    const double* data() const { return r_.data(); }  // n x n, column-major, upper; below the diagonal: zeros

    // Takes in a block of rows, column-major; the block is overwritten.
    void absorb(double* block, index rows, index leading);
    void merge(Triangle other);
    // R is unique up to the signs of its rows; this makes its diagonal positive, and so its first row the means.
    void fix_signs();

private:
    index rows_of_call() const;
    void update(double* block, index rows, index leading, index trapezoid, index begin);

    index n_;
    Buffer<double> r_;
};

}  // namespace fasthdmr
