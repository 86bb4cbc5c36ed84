// Columns that others nearly tell, less what those tell of them: what is left is far from dependent, so products suffice.
// No digit is lost in X (1 - T), column by column, where products of X itself would lose twice as many as X has lost.
#pragma once

#include <optional>
#include <vector>

#include "support/arrays.hpp"

namespace fasthdmr {

// One step: columns either are taken off others, or have others taken off, which come before them.
class Elimination {
public:
    // What to take off, as some rows, in no order, and their products (lower) tell. None where nothing would help, or
    // where no more than rounding would be left.
    static std::optional<Elimination> of(const Buffer<double>& x, index rows, index columns, Buffer<double> products);

    // X <- X (1 - T), and X <- X (1 + T)
    void take_off(double* block, index rows, index leading) const { add(-1.0, block, rows, leading); }
    void put_back(double* block, index rows, index leading) const { add(1.0, block, rows, leading); }
    // Whether it is a few multiples of single columns.
    bool is_sparse() const { return !few_.empty(); }
    // In multiples of a matrix product, a row.
    index cost() const;

private:
    struct Multiple {
        index from, to;
        double factor;
    };

    void drop_noise(const std::vector<double>& norms, const std::vector<double>& left, index rows);
    void add(double sign, double* block, index rows, index leading) const;
    void add_few(double sign, double* block, index rows, index leading) const;
    void add_many(double sign, double* block, index rows, index leading) const;

    index columns_ = 0;  // up to the last that is taken off others
    std::vector<index> targets_;
    Buffer<double> factors_;     // columns x targets, column-major
    std::vector<Multiple> few_;  // the same where most of it is zero
};

using Eliminations = std::vector<Elimination>;

// The steps that leave columns far enough from dependent on these rows, which are overwritten; none where none do.
std::optional<Eliminations> eliminations(Buffer<double>& x, index rows, index columns, double largest_inverse);

}  // namespace fasthdmr
