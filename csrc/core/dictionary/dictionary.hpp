// A dictionary: the columns of a design matrix, each labelled with its subspace. Trees, or the caller, provide them.
#pragma once

#include <vector>

#include "forest/row_block.hpp"
#include "support/components.hpp"
#include "support/subspace.hpp"

namespace fasthdmr {

// Columns are sorted by subspace. The constant is not among them.
class Dictionary {
public:
    virtual ~Dictionary() = default;
    index columns() const { return index(column_subspace_.size()); }
    const std::vector<Subspace>& subspaces() const { return subspaces_; }
    const std::vector<index>& column_subspace() const { return column_subspace_; }

    // Writes the columns of some rows (at most kBlockRows) into out, column-major.
    virtual void fill(const Rows& rows, double* out, index leading) const = 0;
    // Rows per block with which the Gram matrix is computed fastest.
    virtual index block_rows() const { return kBlockRows; }
    // The number of neighbouring rows that are read in about the time of a single one.
    virtual index rows_together() const { return 1; }

protected:
    std::vector<Subspace> subspaces_;
    std::vector<index> column_subspace_;
};

// A matrix of columns that the caller has computed.
class ArrayDictionary : public Dictionary {
public:
    ArrayDictionary(const Table& columns, std::vector<Subspace> subspaces, std::vector<index> column_subspace);
    void fill(const Rows& rows, double* out, index leading) const override;
    index block_rows() const override {
        return 256;
    }  // a block of hundreds of columns fits into the second-level cache
    index rows_together() const override { return table_.row_stride == index(sizeof(double)) ? 8 : 1; }  // a cache line

private:
    Table table_;
};

// Columns that are functions of the input, computed block by block.
class BlockColumns {
public:
    virtual ~BlockColumns() = default;
    virtual index count() const = 0;
    virtual index input_columns() const = 0;
    virtual const Comparison& comparison() const = 0;  // blocks must be loaded with it
    // Writes column j to out[j]; columns whose out[j] is null are not computed.
    virtual void fill(const InputBlock& block, double* const* out) const = 0;
};

// Component functions at all rows of the input, (rows, components), column-major.
void evaluate(const BlockColumns& columns, const Table& x, const Components& components, double* out, int n_threads);

}  // namespace fasthdmr
