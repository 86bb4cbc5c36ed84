#include "product_measure/leaf_boxes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "support/interruption.hpp"

namespace fasthdmr {

namespace {

struct Place {
    index node;
    std::vector<Side> sides;
};

// Restricts a path to a child; false if no row can take it.
bool narrow(const ProductTrees::Node& node, bool right, const Marginals& marginals, std::vector<Side>& sides) {
    const auto is_before = [](const Side& side, std::int32_t variable) { return side.variable < variable; };
    auto side = std::lower_bound(sides.begin(), sides.end(), node.variable, is_before);
    if (side == sides.end() || side->variable != node.variable)
        side = sides.insert(side, {node.variable, 0, marginals.thresholds().count(node.variable) + 1, true, 1.0});
    if (right) side->low = std::min(std::max(side->low, node.split), side->high);
    else side->high = std::max(std::min(side->high, node.split), side->low);
    side->missing &= node.missing_left != right;
    return side->low < side->high || side->missing;
}

void measure(const Marginals& marginals, std::vector<Side>& sides) {
    for (Side& side : sides) {
        side.probability = marginals.probability(side.variable, side.low, side.high);
        if (side.missing) side.probability += marginals.missing(side.variable);
    }
}

}  // namespace

std::vector<PathToLeaf> paths_to_leaves(const ProductTrees::Node* tree, const Marginals& marginals) {
    std::vector<PathToLeaf> paths;
    std::vector<Place> stack;
    stack.push_back({0, {}});
    while (!stack.empty()) {
        Place at = std::move(stack.back());
        stack.pop_back();
        const ProductTrees::Node& node = tree[at.node];
        if (node.variable < 0) {
            measure(marginals, at.sides);
            double probability = 1.0;
            for (const Side& side : at.sides) probability *= side.probability;
            paths.push_back({at.node, std::move(at.sides), probability});
            continue;
        }
        Place right{node.left + 1, at.sides};
        if (narrow(node, true, marginals, right.sides)) stack.push_back(std::move(right));
        at.node = node.left;
        if (narrow(node, false, marginals, at.sides)) stack.push_back(std::move(at));
    }
    return paths;
}

ProductTrees::ProductTrees(const std::vector<std::shared_ptr<const Forest>>& forests, index output,
                           const std::vector<const double*>& factors, std::shared_ptr<const Marginals> marginals)
    : marginals_(std::move(marginals)) {
    std::map<Subspace, index> group_of;
    for (std::size_t i = 0; i < forests.size(); ++i) {
        const Forest& forest = *forests[i];
        if (forest.n_features() != marginals_->thresholds().variables())
            throw Error("the marginal laws are of another number of variables");
        if (!same(forest.comparison(), marginals_->comparison()))
            throw Error("the marginal laws are those of forests that compare values in another way");
        for (const index t : trees_of(forest, output))
            if (factors[i][t] != 0.0) append(forest, t, forest.value_column(output), factors[i][t], group_of);
    }
}

void ProductTrees::append(const Forest& forest, index t, index value_column, double factor,
                          std::map<Subspace, index>& group_of) {
    poll();
    const fasthdmr::Node* tree = forest.tree(t);
    for (index m = 0; m < forest.tree_size(t); ++m) {
        if (Forest::is_leaf(tree, m))
            nodes_.push_back({-1, 0, 0, false, factor * forest.values(t)[m * forest.width() + value_column]});
        else
            nodes_.push_back({tree[m].feature, marginals_->split(tree[m].feature, tree[m].threshold), tree[m].left,
                              forest.missing_left(t)[m] != 0, 0.0});
    }
    Node* own = nodes_.data() + begin_.back();
    double mean = 0.0;
    const std::vector<PathToLeaf> paths = paths_to_leaves(own, *marginals_);
    for (const PathToLeaf& path : paths) mean += path.probability * own[path.leaf].value;
    for (index m = 0; m < forest.tree_size(t); ++m) own[m].value -= mean;
    for (const PathToLeaf& path : paths) {
        Subspace variables;
        for (const Side& side : path.sides) variables.push_back(side.variable);
        const auto [entry, is_new] = group_of.try_emplace(std::move(variables), index(groups_.size()));
        if (is_new) groups_.push_back({entry->first, {}, {}});
        LeafGroup& group = groups_[entry->second];
        group.sides.insert(group.sides.end(), path.sides.begin(), path.sides.end());
        group.values.push_back(own[path.leaf].value);
    }
    mean_ += mean;
    begin_.push_back(index(nodes_.size()));
}

namespace {

double binomial(index n, index k) {
    double result = 1.0;
    for (index i = 0; i < k; ++i) result = result * double(n - i) / double(i + 1);
    return result;
}

}  // namespace

double count_subspaces(const std::vector<LeafGroup>& groups, index order) {
    double sum = 0.0;
    for (const LeafGroup& group : groups)
        for (index k = 1, n = index(group.variables.size()); k <= std::min(n, order); ++k) sum += binomial(n, k);
    return sum;
}

GroupsOf groups_of_subspaces(const std::vector<LeafGroup>& groups, index order) {
    GroupsOf found(&precedes);
    for (index g = 0; g < index(groups.size()); ++g) {
        poll();
        std::vector<Subspace> subsets{{}};
        for (const std::int32_t variable : groups[g].variables)
            for (std::size_t k = 0, n = subsets.size(); k < n; ++k)
                if (index(subsets[k].size()) < order) {
                    subsets.push_back(subsets[k]);
                    subsets.back().push_back(variable);
                }
        for (std::size_t k = 1; k < subsets.size(); ++k) found[subsets[k]].push_back(g);
    }
    return found;
}

BoxList boxes_in(const Subspace& u, const std::vector<LeafGroup>& groups, const std::vector<index>& chosen) {
    BoxList boxes;
    boxes.order = index(u.size());
    for (const index g : chosen) {
        poll();
        const LeafGroup& group = groups[g];
        const index width = index(group.variables.size());
        std::vector<index> own, others;
        for (index k = 0; k < width; ++k)
            (std::binary_search(u.begin(), u.end(), group.variables[k]) ? own : others).push_back(k);
        for (std::size_t l = 0; l < group.values.size(); ++l) {
            const Side* sides = group.sides.data() + index(l) * width;
            double value = group.values[l];
            for (const index k : others) value *= sides[k].probability;
            for (const index k : own) boxes.sides.push_back(sides[k]);
            boxes.values.push_back(value);
        }
    }
    return boxes;
}

BoxList merged(const BoxList& boxes) {
    constexpr index kComparisonsAPoll = 4096;
    std::vector<index> order(boxes.count());
    std::iota(order.begin(), order.end(), 0);
    index compared = 0;
    const auto compare = [&](index a, index b) {
        if (++compared % kComparisonsAPoll == 0) poll();
        for (index s = 0; s < boxes.order; ++s) {
            const Side &x = boxes.box(a)[s], &y = boxes.box(b)[s];
            const auto left = std::tie(x.low, x.high, x.missing), right = std::tie(y.low, y.high, y.missing);
            if (left != right) return left < right ? -1 : 1;
        }
        return 0;
    };
    std::stable_sort(order.begin(), order.end(), [&](index a, index b) { return compare(a, b) < 0; });
    BoxList result;
    result.order = boxes.order;
    for (std::size_t k = 0; k < order.size(); ++k) {
        if (k > 0 && compare(order[k - 1], order[k]) == 0) {
            result.values.back() += boxes.values[order[k]];
            continue;
        }
        result.sides.insert(result.sides.end(), boxes.box(order[k]), boxes.box(order[k]) + boxes.order);
        result.values.push_back(boxes.values[order[k]]);
    }
    return result;
}

}  // namespace fasthdmr
