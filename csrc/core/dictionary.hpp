// A dictionary: feature columns, each labelled with its subspace, whatever they come from.
#pragma once

#include <memory>
#include <vector>

#include "features.hpp"
#include "groups.hpp"
#include "node_features.hpp"

namespace fasthdmr {

// Columns are ordered by subspace; the constant is none of them.
class Dictionary {
public:
    virtual ~Dictionary() = default;
    index columns() const { return index(column_subspace_.size()); }
    const std::vector<Subspace>& subspaces() const { return subspaces_; }
    const std::vector<index>& column_subspace() const { return column_subspace_; }

    // Writes the columns of some rows (at most kBlockRows) into out, column-major.
    virtual void fill(const Rows& rows, double* out, index leading) const = 0;
    // How many rows are best filled at a time for their products.
    virtual index block_rows() const { return kBlockRows; }

protected:
    std::vector<Subspace> subspaces_;
    std::vector<index> column_subspace_;
};

// A matrix of columns that the caller has computed.
class ArrayDictionary : public Dictionary {
public:
    ArrayDictionary(const Table& columns, std::vector<Subspace> subspaces, std::vector<index> column_subspace);
    void fill(const Rows& rows, double* out, index leading) const override;
    index block_rows() const override { return 256; }  // hundreds of columns stay in the second cache

private:
    Table table_;
};

// Columns that blocks of input determine.
class BlockColumns {
public:
    virtual ~BlockColumns() = default;
    virtual index count() const = 0;
    virtual index n_features() const = 0;
    // Writes column j to out[j]; those without a place (null) are not computed.
    virtual void fill(const InputBlock& block, double* const* out) const = 0;
};

enum class Sorting { by_tree, by_node };

// What one or several forests add to one output: one column a forest and subspace (the paper's B_(i,u)), and a constant
// a forest.
class TreeColumns : public BlockColumns {
public:
    TreeColumns(std::vector<std::shared_ptr<const Forest>> forests, index output, Sorting sorting, int n_threads);

    struct Column {
        index subspace, member;
    };
    const std::vector<Subspace>& subspaces() const { return subspaces_; }
    const std::vector<Column>& columns() const { return columns_; }
    // The offset of each forest, and what its trees add to no variable's column: single leaves, or the roots.
    const std::vector<double>& constants() const { return constants_; }
    index count() const override { return index(columns_.size()); }
    index n_features() const override { return forests_.front()->n_features(); }
    void fill(const InputBlock& block, double* const* out) const override;

private:
    std::vector<std::vector<Subspace>> lay_out_trees(index output, int n_threads);
    std::vector<std::vector<Subspace>> lay_out_nodes(index output, int n_threads);

    std::vector<std::shared_ptr<const Forest>> forests_;
    std::vector<Subspace> subspaces_;
    std::vector<Column> columns_;
    std::vector<double> constants_;
    std::vector<TreeSums> tree_sums_;            // one a forest, by tree
    std::vector<NodeSums> node_sums_;            // or by node,
    std::vector<std::vector<index>> column_of_;  // and the column of each of its subspaces
};

// Tree columns at given rows of input.
class TreeDictionary : public Dictionary {
public:
    TreeDictionary(const TreeColumns& columns, const Table& x);
    void fill(const Rows& rows, double* out, index leading) const override;

private:
    const TreeColumns& trees_;
    Table x_;
};

// Sparse columns of coefficients over (constant, dictionary columns): component functions.
struct Components {
    std::vector<index> begin{0};  // component c owns entries begin[c]:begin[c + 1]
    std::vector<index> column;    // 0 is the constant
    std::vector<double> weight;

    index count() const { return index(begin.size()) - 1; }
};

// Component functions at all rows of the input, (rows, components), column-major.
void evaluate(const BlockColumns& columns, const Table& x, const Components& components, double* out, int n_threads);

}  // namespace fasthdmr
