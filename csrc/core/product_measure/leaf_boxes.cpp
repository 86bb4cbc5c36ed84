#include "product_measure/leaf_boxes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "support/interruption.hpp"

namespace fasthdmr {

namespace {

struct Visit {
    index node;
    std::vector<Constraint> constraints;
};

// Extends a path to a child; false if its constraints cannot be satisfied.
bool narrow(const ProductTrees& trees, const ProductTrees::Node& node, bool right, RankSets& sets,
            std::vector<Constraint>& constraints) {
    const auto is_before = [](const Constraint& constraint, std::int32_t variable) {
        return constraint.variable < variable;
    };
    auto own = std::lower_bound(constraints.begin(), constraints.end(), node.variable, is_before);
    if (own == constraints.end() || own->variable != node.variable)
        own = constraints.insert(own, trees.whole(node.variable));
    narrow(node, right, sets, *own);
    return (own->set < 0 ? own->low < own->high : !sets.runs(own->set).empty()) || own->missing;
}

void set_probabilities(const Marginals& marginals, const RankSets& sets, std::vector<Constraint>& constraints) {
    for (Constraint& c : constraints) {
        c.probability = c.set < 0 ? marginals.probability(c.variable, c.low, c.high) : 0.0;
        if (c.set >= 0)
            for (const auto& [low, high] : sets.runs(c.set))
                c.probability += marginals.probability(c.variable, low, high);
        if (c.missing) c.probability += marginals.missing(c.variable);
    }
}

}  // namespace

RankSets RankSets::extending(const RankSets& base) {
    RankSets sets;
    sets.base_ = &base;
    sets.first_ = base.first_ + std::int32_t(base.runs_.size());
    return sets;
}

std::int32_t RankSets::number(const Runs& runs) {
    if (base_)
        if (const auto known = base_->numbers_.find(runs); known != base_->numbers_.end()) return known->second;
    const auto [entry, is_new] = numbers_.try_emplace(runs, first_ + std::int32_t(runs_.size()));
    if (is_new) runs_.push_back(runs);
    return entry->second;
}

std::int32_t RankSets::intersect(std::int32_t set, std::int32_t other, bool complement) {
    const std::uint64_t key = std::uint64_t(set) << 32 | std::uint64_t(other) << 1 | std::uint64_t(complement);
    for (const RankSets* each : {static_cast<const RankSets*>(this), base_})
        if (each)
            if (const auto known = each->intersections_.find(key); known != each->intersections_.end())
                return known->second;
    Runs result;
    const auto append = [&](std::int32_t low, std::int32_t high) {
        if (low < high) result.push_back({low, high});
    };
    for (auto [low, high] : runs(set)) {
        for (const Run& cut : runs(other)) {
            if (cut.high <= low || high <= cut.low) continue;
            if (complement) append(low, cut.low);
            else append(std::max(low, cut.low), std::min(high, cut.high));
            low = std::min(cut.high, high);
        }
        if (complement) append(low, high);
    }
    return intersections_[key] = number(result);
}

void narrow(const ProductTrees::Node& node, bool right, RankSets& sets, Constraint& constraint) {
    if (constraint.set >= 0) constraint.set = sets.intersect(constraint.set, ~node.split, right);
    else if (right) constraint.low = std::min(std::max(constraint.low, node.split), constraint.high);
    else constraint.high = std::max(std::min(constraint.high, node.split), constraint.low);
    constraint.missing &= node.missing_left != right;
}

std::vector<PathToLeaf> paths_to_leaves(const ProductTrees& trees, const ProductTrees::Node* tree, RankSets& sets) {
    std::vector<PathToLeaf> paths;
    std::vector<Visit> stack;
    stack.push_back({0, {}});
    while (!stack.empty()) {
        Visit at = std::move(stack.back());
        stack.pop_back();
        const ProductTrees::Node& node = tree[at.node];
        if (node.variable < 0) {
            set_probabilities(*trees.marginals(), sets, at.constraints);
            double probability = 1.0;
            for (const Constraint& constraint : at.constraints) probability *= constraint.probability;
            paths.push_back({at.node, std::move(at.constraints), probability});
            continue;
        }
        Visit right{node.left + 1, at.constraints};
        if (narrow(trees, node, true, sets, right.constraints)) stack.push_back(std::move(right));
        at.node = node.left;
        if (narrow(trees, node, false, sets, at.constraints)) stack.push_back(std::move(at));
    }
    return paths;
}

ProductTrees::ProductTrees(const std::vector<std::shared_ptr<const Forest>>& forests, index output,
                           const std::vector<const double*>& factors, std::shared_ptr<const Marginals> marginals)
    : marginals_(std::move(marginals)), whole_(marginals_->thresholds().variables(), -1) {
    const ValueSets& sets = marginals_->comparison()->sets();
    for (index s = 0; s < sets.size(); ++s)
        whole_[sets[s].feature] = sets_.number({{0, marginals_->thresholds().count(sets[s].feature) + 1}});
    std::map<Subspace, index> group_of;
    for (std::size_t i = 0; i < forests.size(); ++i) {
        const Forest& forest = *forests[i];
        if (forest.n_features() != marginals_->thresholds().variables())
            throw Error("the marginal distributions have another number of variables");
        if (!same(forest.comparison(), marginals_->comparison()))
            throw Error("the marginal distributions are those of forests that compare values in another way");
        for (const index t : trees_of(forest, output))
            if (factors[i][t] != 0.0) append(forest, t, forest.value_column(output), factors[i][t], group_of);
    }
}

Constraint ProductTrees::whole(std::int32_t variable) const {
    return {variable, 0, marginals_->thresholds().count(variable) + 1, true, 1.0, whole_[variable]};
}

// If a variable is split by sets, a threshold on it is represented as a set as well: the ranks below the split.
std::int32_t ProductTrees::split(const Forest& forest, const fasthdmr::Node& node) {
    const std::int32_t variable = forest.variable(node);
    if (node.feature < forest.n_features()) {
        const std::int32_t rank = marginals_->split(variable, node.threshold);
        return whole_[variable] < 0 ? rank : ~sets_.number({{0, rank}});
    }
    const ValueSet set = forest.comparison()->set(node.feature);
    const auto rank = [&](double cut) {
        return marginals_->split(variable, forest.comparison()->code_of_threshold(variable, cut));
    };
    RankSets::Runs runs;
    for (const double* cut = set.begin(); cut != set.end(); cut += 2) runs.push_back({rank(cut[0]), rank(cut[1])});
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
        for (const Constraint& constraint : path.constraints) variables.push_back(constraint.variable);
        const auto [entry, is_new] = group_of.try_emplace(std::move(variables), index(groups_.size()));
        if (is_new) groups_.push_back({entry->first, {}, {}});
        LeafGroup& group = groups_[entry->second];
        group.constraints.insert(group.constraints.end(), path.constraints.begin(), path.constraints.end());
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

// A constraint as a list of intervals. Those of a set are its runs; missing values are added to the first of them.
void append_intervals(const Constraint& constraint, const RankSets& sets, const Marginals& marginals,
                      std::vector<Constraint>& out) {
    if (constraint.set < 0) return out.push_back(constraint);
    const std::size_t before = out.size();
    for (const auto& [low, high] : sets.runs(constraint.set))
        out.push_back({constraint.variable, low, high, false, marginals.probability(constraint.variable, low, high)});
    if (!constraint.missing) return;
    if (out.size() == before) out.push_back({constraint.variable, 0, 0, false, 0.0});
    out[before].missing = true;
    out[before].probability += marginals.missing(constraint.variable);
}

// The positions of the variables of a group that are in u, and of the others.
std::pair<std::vector<index>, std::vector<index>> partition_variables(const Subspace& u, const LeafGroup& group) {
    std::pair<std::vector<index>, std::vector<index>> positions;
    for (index k = 0; k < index(group.variables.size()); ++k)
        (std::binary_search(u.begin(), u.end(), group.variables[k]) ? positions.first : positions.second).push_back(k);
    return positions;
}

}  // namespace

// The centred indicator of a set, 1 - p, is the sum of those of its runs. So a box of sets is a sum of boxes of runs.
BoxList boxes_in(const Subspace& u, const ProductTrees& trees, const std::vector<index>& chosen) {
    BoxList boxes;
    boxes.order = index(u.size());
    for (const index g : chosen) {
        poll();
        const LeafGroup& group = trees.groups()[g];
        const auto [own, others] = partition_variables(u, group);
        std::vector<std::vector<Constraint>> intervals(own.size());
        for (std::size_t l = 0; l < group.values.size(); ++l) {
            const Constraint* constraints = group.constraints.data() + l * group.variables.size();
            double value = group.values[l];
            for (const index k : others) value *= constraints[k].probability;
            index count = 1;
            for (std::size_t k = 0; k < own.size(); ++k) {
                intervals[k].clear();
                append_intervals(constraints[own[k]], trees.sets(), *trees.marginals(), intervals[k]);
                count *= index(intervals[k].size());
            }
            for (index box = 0; box < count; ++box) {
                index rest = box;
                for (const std::vector<Constraint>& of : intervals) {
                    boxes.constraints.push_back(of[rest % index(of.size())]);
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
        const std::vector<index> own = partition_variables(u, group).first;
        const auto has_set = [&](const Constraint& constraint) { return trees.whole(constraint.variable).set >= 0; };
        if (group.constraints.empty() ||
            std::none_of(group.constraints.begin(), group.constraints.begin() + index(group.variables.size()),
                         has_set)) {
            sum += index(group.values.size());
            continue;
        }
        for (std::size_t l = 0; l < group.values.size(); ++l) {
            index count = 1;
            for (const index k : own) {
                const Constraint& constraint = group.constraints[l * group.variables.size() + k];
                if (constraint.set >= 0) count *= std::max<index>(1, index(trees.sets().runs(constraint.set).size()));
            }
            sum += count;
        }
    }
    return sum;
}

BoxList merged(const BoxList& boxes) {
    constexpr index kComparisonsPerPoll = 4096;
    std::vector<index> order(boxes.count());
    std::iota(order.begin(), order.end(), 0);
    index compared = 0;
    const auto compare = [&](index a, index b) {
        if (++compared % kComparisonsPerPoll == 0) poll();
        for (index s = 0; s < boxes.order; ++s) {
            const Constraint &x = boxes.box(a)[s], &y = boxes.box(b)[s];
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
        result.constraints.insert(result.constraints.end(), boxes.box(order[k]), boxes.box(order[k]) + boxes.order);
        result.values.push_back(boxes.values[order[k]]);
    }
    return result;
}

}  // namespace fasthdmr
