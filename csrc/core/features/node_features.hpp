// Feature columns by node. The value of a tree is the value of its root plus, for each further node of a row's path,
// the difference from the parent's value. Each difference is a function of the variables on the path to its node, and
// is added to the column of that subspace.
#pragma once

#include <vector>

#include "features/tree_features.hpp"
#include "forest/grouping.hpp"

namespace fasthdmr {

// The node differences of all trees of a forest that add to one output, as one column for each subspace.
class NodeSums {
public:
    // Two-phase construction by `lay_out` (column_layout.hpp). Until then, it keeps a reference to the forest.
    NodeSums(const Forest& forest, index output, TreeChoice which = TreeChoice::all)
        : preparation_(new Preparation{forest, output, which, {}, {}}) {}
    void prepare(int n_threads);
    CandidateTables& candidate_tables() { return preparation_->candidate_tables; }
    void finish(int n_threads);

    const std::vector<Subspace>& subspaces() const { return groups_.subspaces; }
    double constant() const { return constant_; }  // the sum of the roots' values
    // Computes all columns of all parts.
    void fill(const Forest& forest, const std::vector<Part>& parts) const;
    std::uint64_t table_bytes() const { return bytes_of_tables(columns_); }

private:
    struct Preparation {
        const Forest& forest;
        index output;
        TreeChoice which;
        CandidateTables candidate_tables;
        std::vector<index> shallow;  // trees
    };
    void append_shallow(const Forest& forest, index t);
    void append_top(const Forest& forest, index t, std::int32_t group);
    void append_paths(const Forest& forest, index t, std::int32_t group, const std::vector<std::int32_t>& nodes);
    void add_deep(const Forest& forest, const std::vector<index>& trees, const InputBlock& block,
                  double* const* columns) const;

    std::unique_ptr<Preparation> preparation_;
    NodeGroups groups_;  // the numbers of nodes are kept for deep trees only
    index value_column_ = 0;
    double constant_ = 0.0;
    Thresholds thresholds_;
    std::vector<ColumnSum> columns_;        // by subspace, lookup tables and the terms of shallow trees
    std::vector<index> boxed_deep_, deep_;  // deep trees some of whose nodes may be in tables, and all others
    std::vector<index> deep_sets_;          // the columns of sets of values that deep trees split on
};

// For every output that has trees: the constant and one column for each subspace.
class NodeFeatures : public Evaluator {
public:
    NodeFeatures(std::shared_ptr<const Forest> forest, int n_threads, std::uint64_t table_bytes = kTableBytes);
    index columns() const override;
    std::uint64_t table_bytes() const override;

protected:
    void fill(const std::vector<Part>& parts) const override;

private:
    std::vector<NodeSums> outputs_;
};

}  // namespace fasthdmr
