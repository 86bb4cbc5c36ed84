#include "dictionary/tree_columns.hpp"

#include <map>

namespace fasthdmr {

ForestColumns::ForestColumns(std::shared_ptr<const Forest> forest, index output, Sorting sorting, TreeChoice which)
    : forest_(std::move(forest)), output_(output), sorting_(sorting), which_(which) {
    if (output < 0 || output >= forest_->n_outputs()) throw Error("no such output: " + std::to_string(output));
    constant_ = which == TreeChoice::of_many_variables ? 0.0 : forest_->offset()[output];
}

void ForestColumns::prepare(int n_threads) {
    if (state_ != State::empty) return;
    if (sorting_ == Sorting::by_tree) {
        prepare_trees(n_threads);
    } else {
        NodeSums sums(*forest_, output_, which_);
        sums.prepare(n_threads);
        constant_ += sums.constant();
        by_node_.emplace(std::move(sums));
    }
    state_ = State::prepared;
}

void ForestColumns::prepare_trees(int n_threads) {
    double constant = constant_;
    std::vector<Subspace> subspaces;
    std::vector<TreeSet> sets;
    for (Group& group : group_trees(*forest_, output_, which_))
        if (group.subspace.empty()) {
            for (const index t : group.trees) constant += forest_->values(t)[forest_->value_column(output_)];
        } else {
            subspaces.push_back(std::move(group.subspace));
            sets.push_back({std::move(group.trees), output_});
        }
    TreeSums sums(*forest_, std::move(sets));
    sums.prepare(n_threads);
    by_tree_.emplace(std::move(sums));
    subspaces_ = std::move(subspaces);
    constant_ = constant;
}

TableOffers& ForestColumns::offers() {
    if (state_ != State::prepared) throw Error("these columns are laid out already");
    state_ = State::used_up;
    return by_tree_ ? by_tree_->offers() : by_node_->offers();
}

void ForestColumns::finish(int n_threads) {
    if (by_tree_) by_tree_->finish(n_threads);
    else by_node_->finish(n_threads);
}

void ForestColumns::fill(const InputBlock& block, double* const* out) const {
    if (by_tree_) by_tree_->add(*forest_, {{&block, out}}, true);
    else by_node_->fill(*forest_, {{&block, out}});
}

TreeColumns::TreeColumns(std::vector<std::shared_ptr<ForestColumns>> forests, int n_threads)
    : forests_(std::move(forests)), column_of_(forests_.size()) {
    std::vector<ForestColumns*> each;
    for (const auto& columns : forests_) {
        if (columns->forest().n_features() != n_features())
            throw Error("the forests have different numbers of features");
        if (!same(columns->forest().comparison(), forests_.front()->forest().comparison()))
            throw Error("the forests compare values in different ways");
        each.push_back(columns.get());
    }
    lay_out(each, kTableBytes, n_threads);
    struct Source {  // of a column: the number of a subspace among the member's
        index member;
        std::size_t number;
    };
    std::map<Subspace, std::vector<Source>, decltype(&precedes)> sources(&precedes);
    for (std::size_t i = 0; i < forests_.size(); ++i) {
        const std::vector<Subspace>& own = forests_[i]->subspaces();
        column_of_[i].resize(own.size());
        for (std::size_t k = 0; k < own.size(); ++k) sources[own[k]].push_back({index(i), k});
    }
    for (const auto& [subspace, members] : sources) {
        for (const Source& source : members) {
            column_of_[source.member][source.number] = index(columns_.size());
            columns_.push_back({index(subspaces_.size()), source.member});
        }
        subspaces_.push_back(subspace);
    }
}

std::vector<double> TreeColumns::constants() const {
    std::vector<double> result;
    for (const auto& forest : forests_) result.push_back(forest->constant());
    return result;
}

void TreeColumns::fill(const InputBlock& block, double* const* out) const {
    for (std::size_t i = 0; i < forests_.size(); ++i) {
        std::vector<double*> own;
        for (const index j : column_of_[i]) own.push_back(out[j]);
        forests_[i]->fill(block, own.data());
    }
}

TreeDictionary::TreeDictionary(const TreeColumns& columns, const Table& x) : trees_(columns), x_(x) {
    if (x.columns != columns.n_features())
        throw Error("x has another number of columns than the forests have features");
    subspaces_ = columns.subspaces();
    for (const auto& column : columns.columns()) column_subspace_.push_back(column.subspace);
}

void TreeDictionary::fill(const Rows& rows, double* out, index leading) const {
    InputBlock block(trees_.comparison());
    block.load(x_, rows);
    std::vector<double*> places;
    for (index j = 0; j < columns(); ++j) places.push_back(out + j * leading);
    trees_.fill(block, places.data());
}

}  // namespace fasthdmr
