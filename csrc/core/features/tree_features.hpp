// Feature columns by tree: one column for each group of trees that split on the same variables, evaluated block of rows
// by block of rows.
#pragma once

#include <memory>
#include <vector>

#include "features/column_layout.hpp"
#include "features/deep_trees.hpp"
#include "forest/forest.hpp"
#include "forest/grouping.hpp"
#include "forest/row_block.hpp"

namespace fasthdmr {

// The trees whose leaf values for an output are summed in one column.
struct TreeSet {
    std::vector<index> trees;
    index output;
};

// A block of rows and an output array for every column. Columns whose array is null are not computed.
struct Part {
    const InputBlock* block;
    double* const* columns;
};

// Adds to the columns of all parts; if `from_zero`, sets them.
void add_columns(const std::vector<ColumnSum>& sums, const Thresholds& thresholds, const std::vector<Part>& parts,
                 bool from_zero);

// Sums of trees of one forest as columns.
class TreeSums {
public:
    // Two-phase construction by `lay_out` (column_layout.hpp). Until then, it keeps a reference to the forest.
    TreeSums(const Forest& forest, std::vector<TreeSet> columns);
    void prepare(int n_threads);
    CandidateTables& candidate_tables() { return preparation_->candidate_tables; }
    void finish(int n_threads);

    index columns() const { return index(columns_.size()); }
    // Adds to every column; if `from_zero`, sets it. Each column is computed for all parts before the next one, so that
    // its lookup tables stay in the cache.
    void add(const Forest& forest, const std::vector<Part>& parts, bool from_zero) const;
    std::uint64_t table_bytes() const { return bytes_of_tables(columns_); }

private:
    struct Preparation {
        const Forest& forest;
        std::vector<TreeSet> columns;
        CandidateTables candidate_tables;
        std::vector<std::vector<index>> unboxed;  // by column, the trees that its tables do not represent
    };

    std::unique_ptr<Preparation> preparation_;
    Thresholds thresholds_;
    std::vector<ColumnSum> columns_;
    DeepTrees deep_;
};

// Columns that are functions of a forest, prepared for evaluation.
class Evaluator {
public:
    explicit Evaluator(std::shared_ptr<const Forest> forest) : forest_(std::move(forest)) {}
    virtual ~Evaluator() = default;

    const Forest& forest() const { return *forest_; }
    virtual index columns() const = 0;
    virtual std::uint64_t table_bytes() const = 0;  // memory of the lookup tables
    // All columns at all rows of x: (rows, columns), column-major.
    void evaluate(const Table& x, double* out, int n_threads) const;

protected:
    virtual void fill(const std::vector<Part>& parts) const = 0;

private:
    std::shared_ptr<const Forest> forest_;
};

// The model's raw output: one column for each output.
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

// One column for each group of trees, output after output.
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
