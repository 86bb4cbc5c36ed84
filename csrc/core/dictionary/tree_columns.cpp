#include "dictionary/tree_columns.hpp"

#include <map>

namespace fasthdmr {

ForestColumns::ForestColumns(const TreePart& part)
    : forest_(part.forest), output_(part.output), sorting_(part.sorting), which_(part.which) {
    if (output_ < 0 || output_ >= forest_->n_outputs()) throw Error("no such output: " + std::to_string(output_));
    constant_ = which_ == TreeChoice::of_many_variables ? 0.0 : forest_->offset()[output_];
}

void ForestColumns::prepare(int n_threads) {
    if (sorting_ == Sorting::by_tree) return prepare_trees(n_threads);
    by_node_.emplace(*forest_, output_, which_);
    by_node_->prepare(n_threads);
    constant_ += by_node_->constant();
}

void ForestColumns::prepare_trees(int n_threads) {
    std::vector<TreeSet> sets;
    for (Group& group : group_trees(*forest_, output_, which_))
        if (group.subspace.empty()) {
            for (const index t : group.trees) constant_ += forest_->values(t)[forest_->value_column(output_)];
        } else {
            subspaces_.push_back(std::move(group.subspace));
            sets.push_back({std::move(group.trees), output_});
        }
    by_tree_.emplace(*forest_, std::move(sets));
    by_tree_->prepare(n_threads);
}

void ForestColumns::finish(int n_threads) {
    if (by_tree_) by_tree_->finish(n_threads);
    else by_node_->finish(n_threads);
}

void ForestColumns::fill(const InputBlock& block, double* const* out) const {
    if (by_tree_) by_tree_->add(*forest_, {{&block, out}}, true);
    else by_node_->fill(*forest_, {{&block, out}});
}

TreeColumns::TreeColumns(const std::vector<TreePart>& parts, int n_threads)
    : forests_(parts.begin(), parts.end()), column_of_(parts.size()) {
    std::vector<ForestColumns*> each;
    for (ForestColumns& columns : forests_) {
        if (columns.forest().n_features() != forests_.front().forest().n_features())
            throw Error("the forests have different numbers of features");
        if (!same(columns.forest().comparison(), forests_.front().forest().comparison()))
            throw Error("the forests compare values in different ways");
        each.push_back(&columns);
    }
    lay_out(each, kTableBytes, n_threads);
    struct Term {  // a subspace of a forest, by number
        index member;
        std::size_t subspace;
    };
    std::map<Subspace, std::vector<Term>, decltype(&precedes)> terms(&precedes);
    for (std::size_t i = 0; i < forests_.size(); ++i) {
        const std::vector<Subspace>& own = forests_[i].subspaces();
        column_of_[i].resize(own.size());
        for (std::size_t k = 0; k < own.size(); ++k) terms[own[k]].push_back({index(i), k});
    }
    for (const auto& [subspace, members] : terms) {
        for (const Term& term : members) {
            column_of_[term.member][term.subspace] = index(columns_.size());
            columns_.push_back({index(subspaces_.size()), term.member});
        }
        subspaces_.push_back(subspace);
    }
}

std::vector<double> TreeColumns::constants() const {
    std::vector<double> result;
    for (const auto& forest : forests_) result.push_back(forest.constant());
    return result;
}

void TreeColumns::fill(const InputBlock& block, double* const* out) const {
    for (std::size_t i = 0; i < forests_.size(); ++i) {
        std::vector<double*> own;
        for (const index j : column_of_[i]) own.push_back(out[j]);
        forests_[i].fill(block, own.data());
    }
}

TreeDictionary::TreeDictionary(const TreeColumns& columns, const Table& x) : trees_(columns), x_(x) {
    if (x.columns != columns.input_columns()) throw Error("x has another number of columns than the forests read");
    subspaces_ = columns.subspaces();
    for (const auto& column : columns.columns()) column_subspace_.push_back(column.subspace);
}

void TreeDictionary::fill(const Rows& rows, double* out, index leading) const {
    InputBlock block(trees_.comparison());
    block.load(x_, rows);
    std::vector<double*> own_columns;
    for (index j = 0; j < columns(); ++j) own_columns.push_back(out + j * leading);
    trees_.fill(block, own_columns.data());
}

}  // namespace fasthdmr
