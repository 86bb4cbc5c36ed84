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
bool narrow(const ProductTrees& trees, const ProductTrees::Node& node, bool right, RankSets& sets,
            std::vector<Side>& sides) {
    const auto is_before = [](const Side& side, std::int32_t variable) { return side.variable < variable; };
    auto side = std::lower_bound(sides.begin(), sides.end(), node.variable, is_before);
    if (side == sides.end() || side->variable != node.variable) side = sides.insert(side, trees.whole(node.variable));
    narrow(node, right, sets, *side);
    return (side->set < 0 ? side->low < side->high : !sets.runs(side->set).empty()) || side->missing;
}

void measure(const Marginals& marginals, const RankSets& sets, std::vector<Side>& sides) {
    for (Side& side : sides) {
        side.probability = side.set < 0 ? marginals.probability(side.variable, side.low, side.high) : 0.0;
        if (side.set >= 0)
            for (const auto& [low, high] : sets.runs(side.set))
                side.probability += marginals.probability(side.variable, low, high);
        if (side.missing) side.probability += marginals.missing(side.variable);
    }
}

}  // namespace

std::int32_t RankSets::number(const Runs& runs) {
    const auto [entry, is_new] = numbers_.try_emplace(runs, std::int32_t(runs_.size()));
    if (is_new) runs_.push_back(runs);
    return entry->second;
}

std::int32_t RankSets::part(std::int32_t set, std::int32_t other, bool outside) {
    const std::tuple key(set, other, outside);
    if (const auto known = parts_.find(key); known != parts_.end()) return known->second;
    Runs result;
    const auto append = [&](std::int32_t low, std::int32_t high) {
        if (low < high) result.push_back({low, high});
    };
    for (auto [low, high] : runs_[set]) {
        for (const Run& cut : runs_[other]) {
            if (cut.high <= low || high <= cut.low) continue;
            if (outside) append(low, cut.low);
            else append(std::max(low, cut.low), std::min(high, cut.high));
            low = std::min(cut.high, high);
        }
        if (outside) append(low, high);
    }
    return parts_[key] = number(result);
}

void narrow(const ProductTrees::Node& node, bool right, RankSets& sets, Side& side) {
    if (side.set >= 0) side.set = sets.part(side.set, ~node.split, right);
    else if (right) side.low = std::min(std::max(side.low, node.split), side.high);
    else side.high = std::max(std::min(side.high, node.split), side.low);
    side.missing &= node.missing_left != right;
}

std::vector<PathToLeaf> paths_to_leaves(const ProductTrees& trees, const ProductTrees::Node* tree, RankSets& sets) {
    std::vector<PathToLeaf> paths;
    std::vector<Place> stack;
    stack.push_back({0, {}});
    while (!stack.empty()) {
        Place at = std::move(stack.back());
        stack.pop_back();
        const ProductTrees::Node& node = tree[at.node];
        if (node.variable < 0) {
            measure(*trees.marginals(), sets, at.sides);
            double probability = 1.0;
            for (const Side& side : at.sides) probability *= side.probability;
            paths.push_back({at.node, std::move(at.sides), probability});
            continue;
        }
        Place right{node.left + 1, at.sides};
        if (narrow(trees, node, true, sets, right.sides)) stack.push_back(std::move(right));
        at.node = node.left;
        if (narrow(trees, node, false, sets, at.sides)) stack.push_back(std::move(at));
    }
    return paths;
}

ProductTrees::ProductTrees(const std::vector<std::shared_ptr<const Forest>>& forests, index output,
                           const std::vector<const double*>& factors, std::shared_ptr<const Marginals> marginals)
    : marginals_(std::move(marginals)), whole_(marginals_->thresholds().variables(), -1) {
    for (const ValueSet& set : marginals_->comparison()->sets())
        whole_[set.variable] = sets_.number({{0, marginals_->thresholds().count(std::int32_t(set.variable)) + 1}});
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

Side ProductTrees::whole(std::int32_t variable) const {
    return {variable, 0, marginals_->thresholds().count(variable) + 1, true, 1.0, whole_[variable]};
}

// On a variable of sets a threshold too is a set: the ranks up to it.
std::int32_t ProductTrees::split(const Forest& forest, const fasthdmr::Node& node) {
    const std::int32_t variable = forest.variable(node);
    if (node.feature < forest.n_features()) {
        const std::int32_t rank = marginals_->split(variable, node.threshold);
        return whole_[variable] < 0 ? rank : ~sets_.number({{0, rank}});
    }
    const ValueSet& set = forest.comparison()->set(node.feature);
    const auto rank = [&](double cut) {
        return marginals_->split(variable, forest.comparison()->code_of_threshold(variable, cut));
    };
    RankSets::Runs runs;
    for (std::size_t k = 0; k < set.cuts.size(); k += 2) runs.push_back({rank(set.cuts[k]), rank(set.cuts[k + 1])});
    return ~sets_.number(runs);
}

void ProductTrees::append(const Forest& forest, index t, index value_column, double factor,
                          std::map<Subspace, index>& group_of) {
    poll();
    const fasthdmr::Node* tree = forest.tree(t);
    for (index m = 0; m < forest.tree_size(t); ++m) {
        if (Forest::is_leaf(tree, m))
            nodes_.push_back({-1, 0, 0, false, factor * forest.values(t)[m * forest.width() + value_column]});
        else
            nodes_.push_back(
                {forest.variable(tree[m]), split(forest, tree[m]), tree[m].left, forest.missing_left(t)[m] != 0, 0.0});
    }
    Node* own = nodes_.data() + begin_.back();
    double mean = 0.0;
    const std::vector<PathToLeaf> paths = paths_to_leaves(*this, own, sets_);
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

namespace {

// A side as intervals: those of a set, missing values with the first of them.
void append_intervals(const Side& side, const RankSets& sets, const Marginals& marginals, std::vector<Side>& out) {
    if (side.set < 0) return out.push_back(side);
    const std::size_t before = out.size();
    for (const auto& [low, high] : sets.runs(side.set))
        out.push_back({side.variable, low, high, false, marginals.probability(side.variable, low, high)});
    if (!side.missing) return;
    if (out.size() == before) out.push_back({side.variable, 0, 0, false, 0.0});
    out[before].missing = true;
    out[before].probability += marginals.missing(side.variable);
}

// The places of the variables of a group that are in u, and of the others.
std::pair<std::vector<index>, std::vector<index>> places_in(const Subspace& u, const LeafGroup& group) {
    std::pair<std::vector<index>, std::vector<index>> places;
    for (index k = 0; k < index(group.variables.size()); ++k)
        (std::binary_search(u.begin(), u.end(), group.variables[k]) ? places.first : places.second).push_back(k);
    return places;
}

}  // namespace

// The indicator of a set less its probability is the sum of those of its runs: a box of sets is a sum of boxes.
BoxList boxes_in(const Subspace& u, const ProductTrees& trees, const std::vector<index>& chosen) {
    BoxList boxes;
    boxes.order = index(u.size());
    for (const index g : chosen) {
        poll();
        const LeafGroup& group = trees.groups()[g];
        const auto [own, others] = places_in(u, group);
        std::vector<std::vector<Side>> intervals(own.size());
        for (std::size_t l = 0; l < group.values.size(); ++l) {
            const Side* sides = group.sides.data() + l * group.variables.size();
            double value = group.values[l];
            for (const index k : others) value *= sides[k].probability;
            index count = 1;
            for (std::size_t k = 0; k < own.size(); ++k) {
                intervals[k].clear();
                append_intervals(sides[own[k]], trees.sets(), *trees.marginals(), intervals[k]);
                count *= index(intervals[k].size());
            }
            for (index box = 0; box < count; ++box) {
                index rest = box;
                for (const std::vector<Side>& of : intervals) {
                    boxes.sides.push_back(of[rest % index(of.size())]);
                    rest /= index(of.size());
                }
                boxes.values.push_back(value);
            }
        }
    }
    return boxes;
}

index count_boxes(const Subspace& u, const ProductTrees& trees, const std::vector<index>& chosen) {
    index sum = 0;
    for (const index g : chosen) {
        const LeafGroup& group = trees.groups()[g];
        const std::vector<index> own = places_in(u, group).first;
        const auto has_set = [&](const Side& side) { return trees.whole(side.variable).set >= 0; };
        if (group.sides.empty() ||
            std::none_of(group.sides.begin(), group.sides.begin() + index(group.variables.size()), has_set)) {
            sum += index(group.values.size());
            continue;
        }
        for (std::size_t l = 0; l < group.values.size(); ++l) {
            index count = 1;
            for (const index k : own) {
                const Side& side = group.sides[l * group.variables.size() + k];
                if (side.set >= 0) count *= std::max<index>(1, index(trees.sets().runs(side.set).size()));
            }
            sum += count;
        }
    }
    return sum;
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
