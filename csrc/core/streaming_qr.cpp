#include "streaming_qr.hpp"

#include <algorithm>
#include <limits>

#include "lapack.hpp"

namespace fasthdmr {

namespace {

Lapack routines{};

// Width of a Householder panel: a panel of a block stays in the second cache.
constexpr index kPanel = 32;

}  // namespace

const Lapack& lapack() { return routines; }
void set_lapack(const Lapack& given) { routines = given; }

Triangle::Triangle(index columns) : n_(columns) {
    constexpr index most = std::numeric_limits<int>::max() / kPanel;
    if (columns > most)
        throw Error(std::to_string(columns) + " columns are too many: at most " + std::to_string(most) + " are taken");
    r_.assign(columns * columns, 0.0);
}

void Triangle::absorb(double* block, index rows, index leading) { update(block, rows, leading, 0); }

void Triangle::merge(Triangle other) {
    if (other.n_ != n_) throw Error("only triangles of the same columns merge");
    update(other.r_.data(), n_, n_, n_);
}

void Triangle::fix_signs() {
    for (index i = 0; i < n_; ++i)
        if (r_[i * n_ + i] < 0)
            for (index j = i; j < n_; ++j) r_[j * n_ + i] = -r_[j * n_ + i];
}

void Triangle::update(double* block, index rows, index leading, index trapezoid) {
    if (rows == 0 || n_ == 0) return;
    int m = int(rows), n = int(n_), l = int(trapezoid), panel = int(std::min(kPanel, n_)), ld = int(leading), info = 0;
    Buffer<double> t(panel * n_), work(panel * n_);
    lapack().dtpqrt(&m, &n, &l, &panel, r_.data(), &n, block, &ld, t.data(), &panel, work.data(), &info);
    if (info != 0) throw Error("The columns are not all finite numbers. Bring them and the weights closer to one.");
}

}  // namespace fasthdmr
