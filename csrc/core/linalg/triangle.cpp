#include "linalg/triangle.hpp"

#include <algorithm>
#include <limits>

#include "linalg/lapack.hpp"
#include "linalg/short_calls.hpp"
#include "support/interruption.hpp"

namespace fasthdmr {

namespace {

// Width of a Householder panel, such that a panel of a block stays in the second-level cache.
constexpr index kPanel = 32;

}  // namespace

Triangle::Triangle(index columns) : n_(columns) {
    constexpr index most = std::numeric_limits<int>::max() / kPanel;
    if (columns > most)
        throw Error(std::to_string(columns) + " columns are too many: the limit is " + std::to_string(most));
    r_.assign(columns * columns, 0.0);
}

// Each call takes as many rows as its limit of multiplications allows.
void Triangle::absorb(double* block, index rows, index leading) {
    const index most = rows_of_call();
    for (index first = 0; first < rows; first += most)
        update(block + first, std::min(most, rows - first), leading, 0, 0);
}

void Triangle::merge(Triangle other) {
    if (other.n_ != n_) throw Error("triangles must have the same number of columns");
    const index most = n_ * n_ / 3 * n_ <= kMostMultiplications ? n_ : rows_of_call();
    for (index first = 0; first < n_; first += most) {
        const index rows = std::min(most, n_ - first);
        update(&other.at(first, first), rows, n_, rows, first);
    }
}

void Triangle::fix_signs() {
    for (index i = 0; i < n_; ++i)
        if (r_[i * n_ + i] < 0)
            for (index j = i; j < n_; ++j) r_[j * n_ + i] = -r_[j * n_ + i];
}

index Triangle::rows_of_call() const {
    constexpr index fewest = 8;
    return std::max(fewest, kMostMultiplications / std::max<index>(1, n_ * n_));
}

// Updates the columns from `begin` on by some rows, of which the last `trapezoid` form an upper trapezoid.
void Triangle::update(double* block, index rows, index leading, index trapezoid, index begin) {
    if (rows == 0 || n_ == 0) return;
    poll();
    int m = int(rows), n = int(n_ - begin), l = int(trapezoid), panel = std::min(int(kPanel), n), ld = int(leading);
    int ldr = int(n_), info = 0;
    Buffer<double> t(panel * n), work(panel * n);
    lapack().dtpqrt(&m, &n, &l, &panel, &at(begin, begin), &ldr, block, &ld, t.data(), &panel, work.data(), &info);
    if (info != 0) throw Error("The columns are not all finite numbers. Bring them and the weights closer to one.");
}

}  // namespace fasthdmr
