#include "groups.hpp"

#include <algorithm>
#include <map>

namespace fasthdmr {

namespace {

Subspace split_variables(const Forest& forest, index t) {
    const Node* tree = forest.tree(t);
    Subspace variables;
    for (index m = 0; m < forest.tree_size(t); ++m)
        if (!Forest::is_leaf(tree, m)) variables.push_back(tree[m].feature);
    std::sort(variables.begin(), variables.end());
    variables.erase(std::unique(variables.begin(), variables.end()), variables.end());
    return variables;
}

}  // namespace

bool precedes(const Subspace& a, const Subspace& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
}

std::vector<Group> group_trees(const Forest& forest, index output) {
    std::map<Subspace, std::vector<index>, decltype(&precedes)> trees(&precedes);
    for (index t = 0; t < forest.n_trees(); ++t)
        if (forest.adds_to(t, output)) trees[split_variables(forest, t)].push_back(t);
    std::vector<Group> groups;
    groups.reserve(trees.size());
    for (auto& [subspace, members] : trees) groups.push_back({subspace, std::move(members)});
    return groups;
}

}  // namespace fasthdmr
