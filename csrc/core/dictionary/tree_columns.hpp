// Dictionary columns of trees: one for each forest and subspace.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "dictionary/dictionary.hpp"
#include "features/node_features.hpp"
#include "features/tree_features.hpp"
#include "forest/grouping.hpp"

namespace fasthdmr {

enum class Sorting { by_tree, by_node };

// The trees of one forest that add to one output, and whether their terms are assigned to subspaces by tree or by node.
struct TreePart {
    std::shared_ptr<const Forest> forest;
    index output;
    Sorting sorting;
    TreeChoice which = TreeChoice::all;
};

// What a part adds to its output: a constant, and one column per subspace. If the trees of few and of many variables
// are separate parts, the offset of the forest belongs to the former.
class ForestColumns {
public:
    explicit ForestColumns(const TreePart& part);
    // Two-phase construction (column_layout.hpp). prepare() depends on this forest only. finish() needs the memory
    // budget that all forests share; fill() requires finish().
    void prepare(int n_threads);
    CandidateTables& candidate_tables() {
        return by_tree_ ? by_tree_->candidate_tables() : by_node_->candidate_tables();
    }
    void finish(int n_threads);

    const Forest& forest() const { return *forest_; }
    const std::vector<Subspace>& subspaces() const { return by_node_ ? by_node_->subspaces() : subspaces_; }
    // The offset of the forest, plus the values of trees that are a single leaf (by tree) or of all roots (by node).
    double constant() const { return constant_; }
    void fill(const InputBlock& block, double* const* out) const;

private:
    void prepare_trees(int n_threads);

    std::shared_ptr<const Forest> forest_;
    index output_;
    Sorting sorting_;
    TreeChoice which_;
    double constant_;
    std::vector<Subspace> subspaces_;  // by tree
    std::optional<TreeSums> by_tree_;
    std::optional<NodeSums> by_node_;
};

// What one or several forests add to one output: one column for each forest and subspace (the paper's B_(i,u)), and one
// constant for each forest.
class TreeColumns : public BlockColumns {
public:
    TreeColumns(const std::vector<TreePart>& parts, int n_threads);

    struct Column {
        index subspace, member;
    };
    const std::vector<Subspace>& subspaces() const { return subspaces_; }
    const std::vector<Column>& columns() const { return columns_; }
    std::vector<double> constants() const;
    index count() const override { return index(columns_.size()); }
    index input_columns() const override { return comparison().input_columns(); }
    const Comparison& comparison() const override { return *forests_.front().forest().comparison(); }
    void fill(const InputBlock& block, double* const* out) const override;

private:
    std::vector<ForestColumns> forests_;
    std::vector<Subspace> subspaces_;
    std::vector<Column> columns_;
    std::vector<std::vector<index>> column_of_;  // by forest, the column of each of its subspaces
};

// Tree columns evaluated at the rows of an input table.
class TreeDictionary : public Dictionary {
public:
    TreeDictionary(const TreeColumns& columns, const Table& x);
    void fill(const Rows& rows, double* out, index leading) const override;

private:
    const TreeColumns& trees_;
    Table x_;
};

}  // namespace fasthdmr
