#include "features.hpp"

#include <algorithm>

#include "boxes.hpp"
#include "parallel.hpp"

namespace fasthdmr {

namespace {

// The inner nodes whose ranks are needed: of trees that are coded, and of those that may become boxes.
std::vector<std::int32_t> nodes_to_rank(const Forest& forest, const std::vector<TreeSet>& columns) {
    std::vector<std::int32_t> nodes;
    std::vector<char> seen(forest.n_trees(), 0);
    for (const TreeSet& column : columns)
        for (const index t : column.trees) {
            if (seen[t]) continue;
            seen[t] = 1;
            if (forest.depth(t) > kShallowDepth)
                append_nodes_of_pairs(forest, t, nodes);
            else
                append_inner_nodes(forest, t, nodes);
        }
    return nodes;
}

}  // namespace

TreeSums::TreeSums(const Forest& forest, const std::vector<TreeSet>& columns, int n_threads, std::uint64_t table_bytes)
    : thresholds_(forest, nodes_to_rank(forest, columns), n_threads), columns_(columns.size()) {
    std::vector<Candidate> candidates(columns.size());
    std::vector<std::vector<index>> boxed(columns.size()), others(columns.size()), deep(columns.size());
    parallel_for(index(columns.size()), n_threads, [&](index c) {
        const index value_column = forest.value_column(columns[c].output);
        for (const index t : columns[c].trees) {
            const bool is_boxed = append_leaf_boxes(forest, thresholds_, t, value_column, candidates[c].boxes);
            (is_boxed ? boxed : others)[c].push_back(t);
            if (is_boxed) ++(forest.depth(t) > kShallowDepth ? candidates[c].deep_walks : candidates[c].walks);
        }
    });
    std::vector<Tables> tables = worthwhile_tables(thresholds_, candidates, table_bytes, n_threads);
    parallel_for(index(columns.size()), n_threads, [&](index c) {
        const index value_column = forest.value_column(columns[c].output);
        const bool has_tables = tables[c].count() > 0;
        columns_[c].tables = std::move(tables[c]);
        for (const index t : has_tables ? others[c] : columns[c].trees) {
            if (forest.depth(t) > kShallowDepth || !can_be_coded(forest, thresholds_, t))
                deep[c].push_back(t);
            else
                columns_[c].walked.append(forest, thresholds_, t, forest.depth(t), forest.values(t) + value_column,
                                          forest.width());
        }
    });
    for (std::size_t c = 0; c < columns.size(); ++c)
        for (const index t : deep[c]) deep_.append(t, index(c), forest.value_column(columns[c].output));
    deep_.sort();
    thresholds_.forget_nodes();
}

std::uint64_t TreeSums::table_bytes() const {
    std::uint64_t sum = 0;
    for (const ColumnSum& column : columns_) sum += column.tables.bytes();
    return sum;
}

void TreeSums::add(const Forest& forest, const InputBlock& block, double* const* columns) const {
    const RankedBlock ranked(thresholds_, block);
    for (std::size_t c = 0; c < columns_.size(); ++c)
        if (columns[c]) columns_[c].add(ranked, thresholds_, columns[c]);
    deep_.add(forest, block, columns);
}

void Evaluator::evaluate(const Table& x, double* out, int n_threads) const {
    parallel_for((x.rows + kBlockRows - 1) / kBlockRows, n_threads, [&](index task) {
        const index begin = task * kBlockRows, n = std::min(kBlockRows, x.rows - begin);
        InputBlock block(x.columns);
        block.load(x, {begin, 1, n});
        std::vector<double*> places;
        for (index c = 0; c < columns(); ++c) places.push_back(out + c * x.rows + begin);
        fill(block, places.data());
    });
}

namespace {

std::vector<TreeSet> trees_by_output(const Forest& forest) {
    std::vector<TreeSet> sets;
    for (index output = 0; output < forest.n_outputs(); ++output) {
        sets.push_back({{}, output});
        for (index t = 0; t < forest.n_trees(); ++t)
            if (forest.adds_to(t, output)) sets.back().trees.push_back(t);
    }
    return sets;
}

std::vector<TreeSet> trees_by_group(const Forest& forest) {
    std::vector<TreeSet> sets;
    for (index output = 0; output < forest.n_outputs(); ++output)
        for (Group& group : group_trees(forest, output)) sets.push_back({std::move(group.trees), output});
    return sets;
}

}  // namespace

Prediction::Prediction(std::shared_ptr<const Forest> given, int n_threads, std::uint64_t table_bytes)
    : Evaluator(std::move(given)), sums_(forest(), trees_by_output(forest()), n_threads, table_bytes) {}

void Prediction::fill(const InputBlock& block, double* const* columns) const {
    for (index output = 0; output < forest().n_outputs(); ++output)
        std::fill_n(columns[output], block.rows(), forest().offset()[output]);
    sums_.add(forest(), block, columns);
}

TreeFeatures::TreeFeatures(std::shared_ptr<const Forest> given, int n_threads, std::uint64_t table_bytes)
    : Evaluator(std::move(given)), sets_(trees_by_group(forest())), sums_(forest(), sets_, n_threads, table_bytes) {}

void TreeFeatures::fill(const InputBlock& block, double* const* columns) const {
    for (std::size_t k = 0; k < sets_.size(); ++k) std::fill_n(columns[k], block.rows(), 0.0);
    sums_.add(forest(), block, columns);
}

}  // namespace fasthdmr
