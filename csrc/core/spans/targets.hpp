// The functions to be decomposed (outputs). Each is a constant plus a sum of terms; a term is a function of the
// variables of one subspace.
#pragma once

#include <memory>
#include <vector>

#include "dictionary/tree_columns.hpp"

namespace fasthdmr {

class Targets {
public:
    virtual ~Targets() = default;
    virtual index outputs() const = 0;
    // The number of terms of all outputs. Those of an output are consecutive, ordered by subspace.
    virtual index terms() const = 0;
    virtual index output_of(index term) const = 0;
    virtual const Subspace& subspace_of(index term) const = 0;
    // Writes the part of each output that belongs to no term, at not more than kBlockRows rows, column-major.
    virtual void start(const Rows& rows, double* out, index leading) const = 0;
    // Writes the values of the terms first, ..., last - 1, which belong to one output, in the same layout.
    virtual void fill(const Rows& rows, index first, index last, double* out, index leading) const = 0;
};

// A linear combination of tree columns. The sum of the columns of one subspace, times their coefficients, is a term.
struct TreeOutput {
    const TreeColumns* columns;
    std::vector<double> coefficient;
    double constant;
};

class TreeTargets : public Targets {
public:
    TreeTargets(std::vector<TreeOutput> outputs, const Table& x);
    index outputs() const override { return index(outputs_.size()); }
    index terms() const override { return first_term_.back(); }
    index output_of(index term) const override;
    const Subspace& subspace_of(index term) const override;
    void start(const Rows& rows, double* out, index leading) const override;
    void fill(const Rows& rows, index first, index last, double* out, index leading) const override;

private:
    std::vector<TreeOutput> outputs_;
    std::vector<index> first_term_{0};              // by output, and one past the last
    std::vector<std::vector<index>> column_begin_;  // by output and subspace, and one past the last
    Table x_;
};

// Outputs given by their values, (rows, outputs), without terms.
class ArrayTargets : public Targets {
public:
    explicit ArrayTargets(const Table& values) : values_(values) {}
    index outputs() const override { return values_.columns; }
    index terms() const override { return 0; }
    index output_of(index) const override { throw Error("an output of values has no terms"); }
    const Subspace& subspace_of(index) const override { throw Error("an output of values has no terms"); }
    void start(const Rows& rows, double* out, index leading) const override;
    void fill(const Rows&, index, index, double*, index) const override {}

private:
    Table values_;
};

}  // namespace fasthdmr
