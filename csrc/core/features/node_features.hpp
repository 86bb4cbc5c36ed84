// Feature columns by node (spec 4). A tree is the value of its root plus, for each further node of a row's path, the
// difference from the parent's value. Each difference belongs to the subspace of the variables of that path.
#pragma once

#include <vector>

#include "features/tree_features.hpp"
#include "forest/grouping.hpp"

namespace fasthdmr {

// The trees of a forest that add to one output, sorted by node.
class NodeSums {
public:
    // To be laid out (column_layout.hpp) before it can add; the forest has to live so long.
    NodeSums(const Forest& forest, index output, TreeChoice which = TreeChoice::all)
        : preparation_(new Preparation{forest, output, which, {}, {}}) {}
    void prepare(int n_threads);
    TableOffers& offers() { return preparation_->offers; }
    void finish(int n_threads);

    const std::vector<Subspace>& subspaces() const { return groups_.subspaces; }
    double constant() const { return constant_; }  // the sum of the roots' values
    // Writes every subspace's terms into a column of its own.
    void fill(const Forest& forest, const std::vector<Part>& parts) const;
    std::uint64_t table_bytes() const { return bytes_of_tables(columns_); }

private:
    struct Preparation {
        const Forest& forest;
        index output;
        TreeChoice which;
        TableOffers offers;
        std::vector<index> shallow;  // trees
    };
    void append_walks(const Forest& forest, index t);
    void append_top(const Forest& forest, index t, std::int32_t group);
    void append_paths(const Forest& forest, index t, std::int32_t group, const std::vector<std::int32_t>& nodes);
    void add_deep(const Forest& forest, const std::vector<index>& trees, const InputBlock& block,
                  double* const* columns) const;
    template <bool Missing>
    void walk_deep(const Forest& forest, index t, const InputBlock& block, double* const* columns, index stop) const;

    std::unique_ptr<Preparation> preparation_;
    NodeGroups groups_;  // the numbers of the nodes only for trees that are walked as a whole
    index value_column_ = 0;
    double constant_ = 0.0;
    Thresholds thresholds_;
    std::vector<ColumnSum> columns_;        // of shallow trees the tops, with what they add to a subspace
    std::vector<index> boxed_deep_, deep_;  // deep trees with and without lookup tables
};

// For every output that has trees the constant and one column a subspace.
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
