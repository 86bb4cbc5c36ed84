// The triangular factor R of the QR factorisation of a tall matrix, updated block of rows by block of rows. The factors
// of two parts of the data can be merged.
#pragma once

#include "support/arrays.hpp"

namespace fasthdmr {

class Triangle {
public:
    explicit Triangle(index columns);

    index columns() const { return n_; }
    double& at(index i, index j) { return r_[j * n_ + i]; }
    const double* data() const { return r_.data(); }  // n x n, column-major, with zeros below the diagonal

    // Updates R by a block of rows, column-major; the block is overwritten.
    void absorb(double* block, index rows, index leading);
    void merge(Triangle other);
    // R is unique up to the signs of its rows. This makes its diagonal positive, so that its first row holds the means.
    void fix_signs();

private:
    index rows_of_call() const;
    void update(double* block, index rows, index leading, index trapezoid, index begin);

    index n_;
    Buffer<double> r_;
};

}  // namespace fasthdmr
