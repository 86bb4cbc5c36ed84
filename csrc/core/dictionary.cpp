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
    for (index j = 0; j < columns(); ++j)
        for (index r = 0; r < rows.count; ++r) out[j * leading + r] = table_.at(rows[r], j);
}

TreeColumns::TreeColumns(std::vector<std::shared_ptr<const Forest>> forests, index output)
    : forests_(std::move(forests)), constants_(forests_.size()) {
    struct Source {
        index member;
        std::vector<index> trees;
    };
    std::map<Subspace, std::vector<Source>, decltype(&precedes)> sources(&precedes);
    for (index i = 0; i < index(forests_.size()); ++i) {
        const Forest& forest = *forests_[i];
        if (forest.n_features() != n_features()) throw Error("the forests have different numbers of features");
        if (output >= forest.n_outputs()) throw Error("the forests have different numbers of outputs");
        constants_[i] = forest.offset()[output];
        for (Group& group : group_trees(forest, output)) {
            if (group.subspace.empty())
                for (const index t : group.trees) constants_[i] += forest.values(t)[forest.value_column(output)];
            else
                sources[group.subspace].push_back({i, std::move(group.trees)});
        }
    }
    for (const auto& [subspace, members] : sources) {
        for (const Source& source : members)
            columns_.push_back({index(subspaces_.size()), source.member,
                                TreeSum(*forests_[source.member], source.trees, output)});
        subspaces_.push_back(subspace);
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
    for (const auto& column : trees_.columns()) {
        std::fill(out, out + rows.count, 0.0);
        column.sum.add(trees_.forest(column), block, out);
        out += leading;
    }
}

void evaluate(const TreeColumns& trees, const Table& x, const Components& components, double* out, int n_threads) {
    if (x.columns != trees.n_features()) throw Error("x has another number of columns than the forests have features");
    // Only the columns that some component uses, each computed once a block.
    std::vector<index> used(components.column.begin(), components.column.end());
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    std::vector<index> slot(trees.columns().size() + 1, 0);
    for (index k = 0; k < index(used.size()); ++k) slot[used[k]] = k;

    parallel_for((x.rows + kBlockRows - 1) / kBlockRows, n_threads, [&](index task) {
        const index begin = task * kBlockRows, n = std::min(kBlockRows, x.rows - begin);
        InputBlock block(x.columns);
        block.load(x, {begin, 1, n});
        Buffer<double> features(used.size() * kBlockRows);
        for (index k = 0; k < index(used.size()); ++k) {
            double* feature = features.data() + k * kBlockRows;
            std::fill(feature, feature + n, used[k] == 0 ? 1.0 : 0.0);
            if (used[k] == 0) continue;
            const auto& column = trees.columns()[used[k] - 1];
            column.sum.add(trees.forest(column), block, feature);
        }
        for (index c = 0; c < components.count(); ++c) {
            double* sum = out + c * x.rows + begin;
            std::fill(sum, sum + n, 0.0);
            for (index e = components.begin[c]; e < components.begin[c + 1]; ++e)
                kernels().add_scaled(components.weight[e], features.data() + slot[components.column[e]] * kBlockRows, n, sum);
        }
    });
}

}  // namespace fasthdmr
