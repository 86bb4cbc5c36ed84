#include "linalg/cholesky_qr.hpp"

#include "linalg/cholesky.hpp"
#include "linalg/short_calls.hpp"

namespace fasthdmr {

void CholeskyQr::absorb(double* block, index rows, index leading) { add_gram(block, rows, n_, leading, gram_.data()); }

void CholeskyQr::merge(const CholeskyQr& other) {
    for (std::size_t k = 0; k < gram_.size(); ++k) gram_[k] += other.gram_[k];
}

std::optional<Triangle> CholeskyQr::triangle(double largest_inverse) const {
    Buffer<double> g = gram_;
    std::vector<double> norms;
    if (!scale_to_unit(g, n_, norms)) return {};
    if (!cholesky(g.data(), n_) || inverse_norm(g.data(), n_) > largest_inverse) return {};
    Triangle result(n_);
    for (index j = 0; j < n_; ++j)
        for (index i = 0; i <= j; ++i) result.at(i, j) = g[i * n_ + j] * norms[j];
    return result;
}

}  // namespace fasthdmr
