#include "dictionary.hpp"

#include <algorithm>
#include <map>

#include "kernels.hpp"
#include "parallel.hpp"

namespace fasthdmr {

ArrayDictionary::ArrayDictionary(const Table& columns, std::vector<Subspace> subspaces, std::vector<index> column_subspace)
    : table_(columns) {
    if (index(column_subspace.size()) != columns.columns) throw Error("every column needs a subspace");
    subspaces_ = std::move(subspaces);
    column_subspace_ = std::move(column_subspace);
}

void ArrayDictionary::fill(const Rows& rows, double* out, index leading) const {
    // As most matrices that are computed column by column: the triangle is fast enough for this to be felt.
    const bool as_it_is = !rows.list && !table_.is_float32 && rows.stride * table_.row_stride == index(sizeof(double));
    for (index j = 0; j < columns(); ++j) {
        const char* column = table_.data + rows[0] * table_.row_stride + j * table_.column_stride;
        if (as_it_is) std::memcpy(out + j * leading, column, rows.count * sizeof(double));
        else
            for (index r = 0; r < rows.count; ++r) out[j * leading + r] = table_.at(rows[r], j);
    }
}

TreeColumns::TreeColumns(std::vector<std::shared_ptr<const Forest>> forests, index output, Sorting sorting, int n_threads)
    : forests_(std::move(forests)), constants_(forests_.size()), column_of_(forests_.size()) {
    for (const auto& forest : forests_) {
        if (forest->n_features() != n_features()) throw Error("the forests have different numbers of features");
        if (output >= forest->n_outputs()) throw Error("the forests have different numbers of outputs");
    }
    const std::vector<std::vector<Subspace>> own =
        sorting == Sorting::by_tree ? lay_out_trees(output, n_threads) : lay_out_nodes(output, n_threads);
    struct Source {  // of a column: the number of a subspace among the member's
        index member;
        std::size_t number;
    };
    std::map<Subspace, std::vector<Source>, decltype(&precedes)> sources(&precedes);
    for (std::size_t i = 0; i < own.size(); ++i) {
        column_of_[i].resize(own[i].size());
        for (std::size_t k = 0; k < own[i].size(); ++k) sources[own[i][k]].push_back({index(i), k});
    }
    for (const auto& [subspace, members] : sources) {
        for (const Source& source : members) {
            column_of_[source.member][source.number] = index(columns_.size());
            columns_.push_back({index(subspaces_.size()), source.member});
        }
        subspaces_.push_back(subspace);
    }
}

// Returns the subspaces of each forest.
std::vector<std::vector<Subspace>> TreeColumns::lay_out_trees(index output, int n_threads) {
    std::vector<std::vector<Group>> groups(forests_.size());
    parallel_for(index(forests_.size()), n_threads, [&](index i) { groups[i] = group_trees(*forests_[i], output); });
    std::vector<std::vector<Subspace>> subspaces(forests_.size());
    for (std::size_t i = 0; i < forests_.size(); ++i) {
        const Forest& forest = *forests_[i];
        constants_[i] = forest.offset()[output];
        std::vector<TreeSet> sets;
        for (Group& group : groups[i])
            if (group.subspace.empty()) {
                for (const index t : group.trees) constants_[i] += forest.values(t)[forest.value_column(output)];
            } else {
                subspaces[i].push_back(group.subspace);
                sets.push_back({std::move(group.trees), output});
            }
        tree_sums_.emplace_back(forest, std::move(sets));
    }
    lay_out(tree_sums_, kTableBytes, n_threads);
    return subspaces;
}

std::vector<std::vector<Subspace>> TreeColumns::lay_out_nodes(index output, int n_threads) {
    for (const auto& forest : forests_) node_sums_.emplace_back(*forest, output);
    lay_out(node_sums_, kTableBytes, n_threads);
    std::vector<std::vector<Subspace>> subspaces;
    for (std::size_t i = 0; i < forests_.size(); ++i) {
        constants_[i] = forests_[i]->offset()[output] + node_sums_[i].constant();
        subspaces.push_back(node_sums_[i].subspaces());
    }
    return subspaces;
}

void TreeColumns::fill(const InputBlock& block, double* const* out) const {
    for (std::size_t i = 0; i < forests_.size(); ++i) {
        std::vector<double*> own;
        for (const index j : column_of_[i]) own.push_back(out[j]);
        if (!tree_sums_.empty())
            tree_sums_[i].add(*forests_[i], {{&block, own.data()}}, true);
        else
            node_sums_[i].fill(*forests_[i], {{&block, own.data()}});
    }
}

TreeDictionary::TreeDictionary(const TreeColumns& columns, const Table& x) : trees_(columns), x_(x) {
    if (x.columns != columns.n_features()) throw Error("x has another number of columns than the forests have features");
    subspaces_ = columns.subspaces();
    for (const auto& column : columns.columns()) column_subspace_.push_back(column.subspace);
}

void TreeDictionary::fill(const Rows& rows, double* out, index leading) const {
    InputBlock block(x_.columns);
    block.load(x_, rows);
    std::vector<double*> places;
    for (index j = 0; j < columns(); ++j) places.push_back(out + j * leading);
    trees_.fill(block, places.data());
}

void evaluate(const BlockColumns& columns, const Table& x, const Components& components, double* out, int n_threads) {
    if (x.columns != columns.n_features()) throw Error("x has another number of columns than the forests have features");
    // Only the columns that some component uses, each computed once a block.
    std::vector<index> used(components.column.begin(), components.column.end());
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    std::vector<index> slot(columns.count() + 1, 0);
    for (index k = 0; k < index(used.size()); ++k) slot[used[k]] = k;

    parallel_for((x.rows + kBlockRows - 1) / kBlockRows, n_threads, [&](index task) {
        const index begin = task * kBlockRows, n = std::min(kBlockRows, x.rows - begin);
        InputBlock block(x.columns);
        block.load(x, {begin, 1, n});
        Buffer<double> features(used.size() * kBlockRows);
        std::vector<double*> places(columns.count(), nullptr);
        for (index k = 0; k < index(used.size()); ++k) {
            double* feature = features.data() + k * kBlockRows;
            if (used[k] == 0)
                std::fill_n(feature, n, 1.0);
            else
                places[used[k] - 1] = feature;
        }
        columns.fill(block, places.data());
        for (index c = 0; c < components.count(); ++c) {
            double* sum = out + c * x.rows + begin;
            std::fill(sum, sum + n, 0.0);
            for (index e = components.begin[c]; e < components.begin[c + 1]; ++e)
                kernels().add_scaled(components.weight[e], features.data() + slot[components.column[e]] * kBlockRows, n, sum);
        }
    });
}

}  // namespace fasthdmr
