#include "forest/grouping.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "support/interruption.hpp"

namespace fasthdmr {

namespace {

void split_variables(const Forest& forest, index t, Subspace& variables) {
    const Node* tree = forest.tree(t);
    variables.clear();
    for (index m = 0; m < forest.tree_size(t); ++m)
        if (!Forest::is_leaf(tree, m)) variables.push_back(forest.variable(tree[m]));
    std::sort(variables.begin(), variables.end());
    variables.erase(std::unique(variables.begin(), variables.end()), variables.end());
}

// Numbers sets of variables in the order of their appearance. A cache stores which set results from adding a variable.
class Numbering {
public:
    // The number of the set that results from adding a variable to set `number`. The empty set is number -1.
    std::int32_t with(std::int32_t number, std::int32_t variable) {
        const std::uint64_t key = std::uint64_t(number + 1) << 32 | std::uint32_t(variable);
        const auto known = next_.find(key);
        if (known != next_.end()) return known->second;
        Subspace u = number < 0 ? Subspace{} : *sets_[number];
        const auto at = std::lower_bound(u.begin(), u.end(), variable);
        if (at == u.end() || *at != variable) u.insert(at, variable);
        const auto [entry, is_new] = numbers_.try_emplace(std::move(u), std::int32_t(sets_.size()));
        if (is_new) sets_.push_back(&entry->first);
        return next_[key] = entry->second;
    }

    const Subspace& set(std::int32_t number) const { return *sets_[number]; }

    // Numbers the sets that occur in `numbers` in sorted order, from 0, and returns them.
    std::vector<Subspace> sort(std::vector<std::vector<std::int32_t>>& numbers) const {
        std::vector<std::int32_t> ranks(sets_.size(), -1);
        for (const auto& of_tree : numbers)
            for (const std::int32_t number : of_tree)
                if (number >= 0) ranks[number] = 0;
        std::vector<Subspace> result;
        for (const auto& [u, number] : numbers_) {
            if (ranks[number] < 0) continue;
            ranks[number] = std::int32_t(result.size());
            result.push_back(u);
        }
        for (auto& of_tree : numbers)
            for (std::int32_t& number : of_tree)
                if (number >= 0) number = ranks[number];
        return result;
    }

private:
    std::map<Subspace, std::int32_t, decltype(&precedes)> numbers_{&precedes};
    std::vector<const Subspace*> sets_;  // keys of the map, whose addresses do not change
    std::unordered_map<std::uint64_t, std::int32_t> next_;
};

// Assigns the terms of two variables of a tree to its first subspace of three variables that contains both, if there is
// one. The first: along a path the subspaces stay sorted.
void join_pairs(const Numbering& numbering, std::vector<std::int32_t>& below) {
    const auto size = [&](std::int32_t number) { return number < 0 ? 0 : numbering.set(number).size(); };
    std::map<Subspace, std::int32_t> triples, joined;
    for (const std::int32_t number : below)
        if (size(number) == 3) triples.try_emplace(numbering.set(number), number);
    for (const auto& [u, number] : triples)
        for (const Subspace& pair : {Subspace{u[0], u[1]}, Subspace{u[0], u[2]}, Subspace{u[1], u[2]}})
            joined.try_emplace(pair, number);
    for (std::int32_t& number : below)
        if (size(number) == 2)
            if (const auto triple = joined.find(numbering.set(number)); triple != joined.end()) number = triple->second;
}

}  // namespace

std::vector<index> trees_of(const Forest& forest, index output, TreeChoice which) {
    std::vector<index> trees;
    Subspace variables;
    for (index t = 0; t < forest.n_trees(); ++t) {
        if (!forest.adds_to(t, output)) continue;
        if (which != TreeChoice::all) {
            split_variables(forest, t, variables);
            if ((variables.size() <= kFewVariables) != (which == TreeChoice::of_few_variables)) continue;
        }
        trees.push_back(t);
    }
    return trees;
}

std::vector<Group> group_trees(const Forest& forest, index output, TreeChoice which) {
    std::map<Subspace, std::vector<index>, decltype(&precedes)> trees(&precedes);
    Subspace variables;  // reused for all trees, to avoid allocations
    NodePolls polls;
    for (const index t : trees_of(forest, output, which)) {
        polls.add(forest.tree_size(t));
        split_variables(forest, t, variables);
        trees[variables].push_back(t);
    }
    std::vector<Group> groups;
    groups.reserve(trees.size());
    for (auto& [subspace, members] : trees) groups.push_back({subspace, std::move(members)});
    return groups;
}

NodeGroups group_nodes(const Forest& forest, index output, TreeChoice which) {
    Numbering numbering;
    NodeGroups groups;
    groups.below.resize(forest.n_trees());
    NodePolls polls;
    for (const index t : trees_of(forest, output, which)) {
        polls.add(forest.tree_size(t));
        const Node* tree = forest.tree(t);
        std::vector<std::int32_t>& below = groups.below[t];
        below.assign(forest.tree_size(t), -1);  // before a node is visited, its entry is its own subspace
        for (index m = 0; m < forest.tree_size(t); ++m) {
            if (Forest::is_leaf(tree, m)) continue;
            below[m] = numbering.with(below[m], forest.variable(tree[m]));
            below[tree[m].left] = below[tree[m].left + 1] = below[m];
        }
        if (which == TreeChoice::of_many_variables) join_pairs(numbering, below);
    }
    groups.subspaces = numbering.sort(groups.below);
    return groups;
}

}  // namespace fasthdmr
