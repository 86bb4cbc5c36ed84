#include "features/tree_features.hpp"

#include <algorithm>

#include "features/leaf_boxes.hpp"
#include "support/parallel.hpp"

namespace fasthdmr {

namespace {

// A task loads at most this many columns of input, over all its blocks: their ranks fit into the second-level cache.
constexpr index kColumnsPerTask = 64;
// A single column may take less time than a poll.
constexpr std::size_t kColumnsPerPoll = 16;

// All trees, without duplicates: a tree with leaf values for several outputs is in a set for each of them.
std::vector<index> distinct_trees(const std::vector<TreeSet>& columns) {
    std::vector<index> trees;
    for (const TreeSet& column : columns) trees.insert(trees.end(), column.trees.begin(), column.trees.end());
    std::sort(trees.begin(), trees.end());
    trees.erase(std::unique(trees.begin(), trees.end()), trees.end());
    return trees;
}

}  // namespace

void add_columns(const std::vector<ColumnSum>& sums, const Thresholds& thresholds, const std::vector<Part>& parts,
                 bool from_zero) {
    std::vector<RankedBlock> ranked;
    for (const Part& part : parts) ranked.emplace_back(thresholds, *part.block, needed_code_sets(sums));
    for (std::size_t c = 0; c < sums.size(); ++c) {
        if (c % kColumnsPerPoll == 0) poll();
        for (std::size_t p = 0; p < parts.size(); ++p) {
            double* column = parts[p].columns[c];
            if (!column) continue;
            if (from_zero) std::fill_n(column, ranked[p].rows(), 0.0);
            sums[c].add(ranked[p], column);
        }
    }
}

TreeSums::TreeSums(const Forest& forest, std::vector<TreeSet> columns)
    : preparation_(new Preparation{forest, std::move(columns), {}, {}}), columns_(preparation_->columns.size()) {}

void TreeSums::prepare(int n_threads) {
    const Forest& forest = preparation_->forest;
    const std::vector<TreeSet>& columns = preparation_->columns;
    thresholds_ = Thresholds(forest, nodes_to_rank(forest, distinct_trees(columns)), n_threads);
    std::vector<Candidate> candidates(columns.size());
    preparation_->unboxed.resize(columns.size());
    parallel_for(index(columns.size()), n_threads, [&](index c) {
        const index value_column = forest.value_column(columns[c].output);
        NodePolls polls;
        for (const index t : columns[c].trees) {
            polls.add(forest.tree_size(t));
            if (append_leaf_boxes(forest, thresholds_, t, value_column, candidates[c].boxes))
                ++(forest.depth(t) > kShallowDepth ? candidates[c].deep_trees : candidates[c].shallow_trees);
            else preparation_->unboxed[c].push_back(t);
        }
    });
    preparation_->candidate_tables = lay_out_tables(thresholds_, std::move(candidates), n_threads);
}

void TreeSums::finish(int n_threads) {
    const std::unique_ptr<Preparation> preparation = std::move(preparation_);
    const Forest& forest = preparation->forest;
    const std::vector<TreeSet>& columns = preparation->columns;
    std::vector<std::vector<index>> deep(columns.size());
    parallel_for(index(columns.size()), n_threads, [&](index c) {
        const index value_column = forest.value_column(columns[c].output);
        columns_[c].tables = std::move(preparation->candidate_tables.tables[c]);
        for (const index t : columns_[c].tables.count() > 0 ? preparation->unboxed[c] : columns[c].trees) {
            if (forest.depth(t) > kShallowDepth || !can_be_coded(forest, thresholds_, t)) deep[c].push_back(t);
            else
                columns_[c].trees.append(forest, thresholds_, t, forest.depth(t), forest.values(t) + value_column,
                                         forest.width());
        }
    });
    for (std::size_t c = 0; c < columns.size(); ++c)
        for (const index t : deep[c]) deep_.append(t, index(c), forest.value_column(columns[c].output));
    deep_.finish(forest);
    thresholds_.forget_nodes();
}

void TreeSums::add(const Forest& forest, const std::vector<Part>& parts, bool from_zero) const {
    add_columns(columns_, thresholds_, parts, from_zero);
    for (const Part& part : parts) deep_.add(forest, *part.block, part.columns);
}

void Evaluator::evaluate(const Table& x, double* out, int n_threads) const {
    const index blocks = (x.rows + kBlockRows - 1) / kBlockRows;
    const index most = std::max<index>(1, kColumnsPerTask / forest().columns()), threads = std::max(1, n_threads);
    // Every thread gets the same number of tasks. Results of rows do not depend on the division into tasks.
    const index rounds = (blocks + most * threads - 1) / (most * threads), tasks = std::min(blocks, rounds * threads);
    parallel_for(tasks, n_threads, [&](index task) {
        const index first = blocks * task / tasks, last = blocks * (task + 1) / tasks;
        std::vector<InputBlock> loaded;
        std::vector<std::vector<double*>> own_columns(last - first);
        std::vector<Part> parts;
        loaded.reserve(last - first);
        for (index b = first; b < last; ++b) {
            const index begin = b * kBlockRows;
            loaded.emplace_back(*forest().comparison()).load(x, {begin, 1, std::min(kBlockRows, x.rows - begin)});
            for (index c = 0; c < columns(); ++c) own_columns[b - first].push_back(out + c * x.rows + begin);
            parts.push_back({&loaded.back(), own_columns[b - first].data()});
        }
        fill(parts);
    });
}

namespace {

std::vector<TreeSet> trees_by_output(const Forest& forest) {
    std::vector<TreeSet> sets;
    for (index output = 0; output < forest.n_outputs(); ++output) sets.push_back({trees_of(forest, output), output});
    return sets;
}

std::vector<TreeSet> trees_by_group(const Forest& forest) {
    std::vector<TreeSet> sets;
    for (index output = 0; output < forest.n_outputs(); ++output)
        for (Group& group : group_trees(forest, output)) sets.push_back({std::move(group.trees), output});
    return sets;
}

std::vector<TreeSums> laid_out(const Forest& forest, std::vector<TreeSet> columns, int n_threads,
                               std::uint64_t table_bytes) {
    std::vector<TreeSums> sums;
    sums.emplace_back(forest, std::move(columns));
    lay_out<TreeSums>({&sums[0]}, table_bytes, n_threads);
    return sums;
}

}  // namespace

Prediction::Prediction(std::shared_ptr<const Forest> given, int n_threads, std::uint64_t table_bytes)
    : Evaluator(std::move(given)), sums_(laid_out(forest(), trees_by_output(forest()), n_threads, table_bytes)) {}

void Prediction::fill(const std::vector<Part>& parts) const {
    for (const Part& part : parts)
        for (index output = 0; output < forest().n_outputs(); ++output)
            std::fill_n(part.columns[output], part.block->rows(), forest().offset()[output]);
    sums_[0].add(forest(), parts, false);
}

TreeFeatures::TreeFeatures(std::shared_ptr<const Forest> given, int n_threads, std::uint64_t table_bytes)
    : Evaluator(std::move(given)), sums_(laid_out(forest(), trees_by_group(forest()), n_threads, table_bytes)) {}

void TreeFeatures::fill(const std::vector<Part>& parts) const { sums_[0].add(forest(), parts, true); }

}  // namespace fasthdmr
