// Right preconditioner for Cholesky QR: nearly dependent columns are replaced by their regression residuals, X (I - T).
// The residuals are well conditioned, so their Gram matrix may be formed. R is recovered by multiplication with
// (I - T)^-1. T is strictly upper triangular, and T^2 = 0: the inverse is I + T.
#pragma once

#include <optional>
#include <vector>

#include "support/arrays.hpp"

namespace fasthdmr {

// One factor I - T. Sources are subtracted from targets that come after them; no column is both.
class Elimination {
public:
    // Estimated from sample rows, in any order, and their Gram matrix (lower). Nullopt if no column is nearly
    // dependent, or if a residual would consist of rounding errors.
    static std::optional<Elimination> of(const Buffer<double>& x, index rows, index columns, Buffer<double> gram);

    // X <- X (I - T), and X <- X (I + T).
    void apply(double* block, index rows, index leading) const { add(-1.0, block, rows, leading); }
    void undo(double* block, index rows, index leading) const { add(1.0, block, rows, leading); }
    // Whether T is so sparse that its entries are applied one by one.
    bool is_sparse() const { return !sparse_.empty(); }
    // Time to apply it to a row, in multiplications of a matrix product.
    index cost() const;

private:
    struct Entry {
        index from, to;
        double factor;
    };

    std::vector<double> residual_norms(const Buffer<double>& x, index rows, index columns) const;
    void drop_noise(const std::vector<double>& norms, const std::vector<double>& residuals, index rows);
    void add(double sign, double* block, index rows, index leading) const;
    void add_sparse(double sign, double* block, index rows, index leading) const;
    void add_dense(double sign, double* block, index rows, index leading) const;

    index columns_ = 0;  // number of columns up to the last source
    std::vector<index> targets_;
    Buffer<double> factors_;     // columns x targets, column-major
    std::vector<Entry> sparse_;  // the nonzeros if T is sparse, otherwise empty
};

using Eliminations = std::vector<Elimination>;

// A sequence of eliminations after which the norm of the inverse Gram matrix of these rows is at most
// `largest_inverse`. Nullopt if there is none, or if it would cost more than it saves. x is overwritten.
std::optional<Eliminations> eliminations(Buffer<double>& x, index rows, index columns, double largest_inverse);

}  // namespace fasthdmr
