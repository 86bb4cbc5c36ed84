// Feature columns by tree (spec 4), a block of rows at a time: one column for each group of trees.
#pragma once

#include <memory>
#include <vector>

#include "features/column_layout.hpp"
#include "features/deep_trees.hpp"
#include "forest/forest.hpp"
#include "forest/grouping.hpp"
#include "forest/row_block.hpp"

namespace fasthdmr {

// The trees whose leaf values for an output are added up into one column.
struct TreeSet {
    std::vector<index> trees;
    index output;
};

// A block of rows and an output array for every column; columns whose array is null are left out.
struct Part {
    const InputBlock* block;
    double* const* columns;
};

// Adds to the columns of all parts, or writes them.
void add_columns(const std::vector<ColumnSum>& sums, const Thresholds& thresholds, const std::vector<Part>& parts,
                 bool from_zero);

class TreeSums {
public:
    // To be laid out (column_layout.hpp) before it can add; the forest has to live so long.
    TreeSums(const Forest& forest, std::vector<TreeSet> columns);
    void prepare(int n_threads);
    TableOffers& offers() { return preparation_->offers; }
    void finish(int n_threads);

    index columns() const { return index(columns_.size()); }
    // Adds to every column, or writes it. Column by column through all parts, so that lookup tables stay in the cache.
    void add(const Forest& forest, const std::vector<Part>& parts, bool from_zero) const;
    std::uint64_t table_bytes() const { return bytes_of_tables(columns_); }

private:
    struct Preparation {
        const Forest& forest;
        std::vector<TreeSet> columns;
        TableOffers offers;
        std::vector<std::vector<index>> unboxed;  // trees of a column that its tables do not hold
    };

    std::unique_ptr<Preparation> preparation_;
    Thresholds thresholds_;
    std::vector<ColumnSum> columns_;
    DeepTrees deep_;
};

// A forest laid out for evaluation.
class Evaluator {
public:
    explicit Evaluator(std::shared_ptr<const Forest> forest) : forest_(std::move(forest)) {}
    virtual ~Evaluator() = default;

    const Forest& forest() const { return *forest_; }
    virtual index columns() const = 0;
    virtual std::uint64_t table_bytes() const = 0;  // that lookup tables take
    // (rows, columns), column-wise.
    void evaluate(const Table& x, double* out, int n_threads) const;

protected:
    virtual void fill(const std::vector<Part>& parts) const = 0;

private:
    std::shared_ptr<const Forest> forest_;
};

// The model's raw output, one column an output.
class Prediction : public Evaluator {
public:
    Prediction(std::shared_ptr<const Forest> forest, int n_threads, std::uint64_t table_bytes = kTableBytes);
    index columns() const override { return forest().n_outputs(); }
    std::uint64_t table_bytes() const override { return sums_[0].table_bytes(); }

protected:
    void fill(const std::vector<Part>& parts) const override;

private:
    std::vector<TreeSums> sums_;  // one
};

// One column a group of trees, output after output.
class TreeFeatures : public Evaluator {
public:
    TreeFeatures(std::shared_ptr<const Forest> forest, int n_threads, std::uint64_t table_bytes = kTableBytes);
    index columns() const override { return sums_[0].columns(); }
    std::uint64_t table_bytes() const override { return sums_[0].table_bytes(); }

protected:
    void fill(const std::vector<Part>& parts) const override;

private:
    std::vector<TreeSums> sums_;  // one
};

}  // namespace fasthdmr
