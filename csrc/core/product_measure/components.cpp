#include "product_measure/components.hpp"

#include <algorithm>
#include <numeric>

#include "kernels/kernels.hpp"
#include "support/parallel.hpp"

namespace fasthdmr {

namespace {

constexpr index kBoxesPerPoll = 256;

// An upper bound of the memory of tables of so many boxes.
double bytes_of_tables(const Subspace& u, index boxes, const Thresholds& thresholds) {
    if (u.size() > 2) return kTableBytesPerBox * double(boxes);
    double bytes = sizeof(double);
    for (const std::int32_t variable : u) bytes *= double(std::min<index>(thresholds.count(variable), 2 * boxes) + 2);
    return bytes;
}

// Chooses small tables first, so that as many components as possible have one.
std::vector<char> choose_tables(const std::vector<double>& bytes, std::uint64_t most) {
    std::vector<index> order(bytes.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](index a, index b) { return bytes[a] < bytes[b]; });
    std::vector<char> chosen(bytes.size(), 0);
    double sum = 0.0;
    for (const index k : order) {
        sum += bytes[k];
        if (sum > double(most)) break;
        chosen[k] = 1;
    }
    return chosen;
}

std::vector<Box> as_table_boxes(const BoxList& list) {
    std::vector<Box> boxes(list.count());
    for (index b = 0; b < list.count(); ++b) {
        boxes[b].order = std::int32_t(list.order);
        boxes[b].value = list.values[b];
        for (index s = 0; s < list.order; ++s) {
            const Constraint& constraint = list.box(b)[s];
            boxes[b].interval[s] = {constraint.variable, constraint.low, constraint.high, constraint.missing};
        }
    }
    return boxes;
}

}  // namespace

ProductComponents::ProductComponents(const ProductTrees& trees, index order,
                                     const std::optional<std::vector<Subspace>>& chosen, std::uint64_t table_bytes,
                                     int n_threads, const Limits& limits)
    : marginals_(trees.marginals()), comparison_(marginals_->comparison()->without_sets()) {
    const std::vector<LeafGroup>& groups = trees.groups();
    const double pairs = count_subspaces(groups, order);
    if (pairs > limits.subspaces) refuse(pairs, limits.subspaces, "subspaces of the paths to leaves");
    std::vector<std::vector<index>> groups_of;
    std::vector<double> bytes;
    for (auto& [u, own] : groups_of_subspaces(groups, order)) {
        if (u.size() > 1 && chosen && std::find(chosen->begin(), chosen->end(), u) == chosen->end()) continue;
        subspaces_.push_back(u);
        bytes.push_back(bytes_of_tables(u, count_boxes(u, trees, own), marginals_->thresholds()));
        groups_of.push_back(std::move(own));
    }
    const std::vector<char> is_table = choose_tables(bytes, table_bytes);
    double boxes = 0.0;
    for (std::size_t c = 0; c < subspaces_.size(); ++c)
        if (!is_table[c] || subspaces_[c].size() > 2) boxes += double(count_boxes(subspaces_[c], trees, groups_of[c]));
    if (boxes > limits.boxes) refuse(boxes, limits.boxes, "boxes of leaves");

    components_.resize(subspaces_.size());
    parallel_for(count(), n_threads, [&](index c) {
        Component& component = components_[c];
        BoxList list = boxes_in(subspaces_[c], trees, groups_of[c]);
        if (!is_table[c] || list.order > 2) {
            component.boxes = merged(list);
            // Before they are sorted, boxes of the same tree are together, which have many ends in common.
            if (is_table[c]) component.box_tables = tables_of(list, *marginals_);
            return;
        }
        const std::vector<Box> table_boxes = as_table_boxes(list);
        component.table = Tables(marginals_->thresholds(), table_boxes);
        component.table.fill(table_boxes);
        component.variance = component.table.centre(*marginals_);
    });
}

index ProductComponents::tables() const {
    return std::count_if(components_.begin(), components_.end(),
                         [](const Component& c) { return c.table.count() > 0 || !c.box_tables.empty(); });
}

void ProductComponents::fill(const InputBlock& block, double* const* out) const {
    const RankedBlock ranked(marginals_->thresholds(), block, 0);
    for (index c = 0; c < count(); ++c) {
        if (!out[c]) continue;
        std::fill_n(out[c], block.rows(), 0.0);
        const Component& component = components_[c];
        if (component.table.count() > 0) component.table.add(ranked, out[c]);
        else if (component.box_tables.empty()) add_boxes(component.boxes, ranked, out[c]);
        else
            for (const BoxTable& table : component.box_tables) table.add(ranked, out[c]);
    }
}

void ProductComponents::add_boxes(const BoxList& boxes, const RankedBlock& block, double* out) const {
    std::vector<IntervalFactor> factors(boxes.order);
    for (index b = 0; b < boxes.count(); ++b) {
        if (b % kBoxesPerPoll == 0) poll();
        for (index s = 0; s < boxes.order; ++s) {
            const Constraint& c = boxes.box(b)[s];
            const std::int32_t missing = c.missing ? marginals_->thresholds().count(c.variable) + 1 : -1;
            factors[s] = {block.ranks(c.variable), c.low,         std::uint32_t(c.high - c.low), missing,
                          1.0 - c.probability,     -c.probability};
        }
        kernels().add_box(factors.data(), boxes.order, boxes.values[b], block.rows(), out);
    }
}

std::vector<double> ProductComponents::variances(int n_threads, const Limits& limits) const {
    std::vector<double> result;
    std::vector<const BoxList*> lists;
    std::vector<std::size_t> numbers;
    for (const Component& component : components_) {
        if (component.table.count() == 0) {
            lists.push_back(&component.boxes);
            numbers.push_back(result.size());
        }
        result.push_back(component.variance);
    }
    double overlaps = 0.0;
    for (const BoxList* list : lists) overlaps += overlaps_of(double(list->count()), list->order);
    if (overlaps > limits.overlaps) refuse(overlaps, limits.overlaps, "overlaps of intervals");
    const std::vector<double> variances = box_variances(lists, *marginals_, n_threads);
    for (std::size_t k = 0; k < lists.size(); ++k) result[numbers[k]] = variances[k];
    return result;
}

double total_variance(const ProductTrees& trees, const std::vector<Subspace>& known,
                      const std::vector<double>& variances, int n_threads, const Limits& limits) {
    const double sum = std::accumulate(variances.begin(), variances.end(), 0.0);
    const index all = trees.marginals()->thresholds().variables();
    std::optional<GroupsOf> rest;
    double boxes = 0.0, overlaps = 0.0;
    if (count_subspaces(trees.groups(), all) <= limits.subspaces) {
        rest = groups_of_subspaces(trees.groups(), all);
        for (const Subspace& u : known) rest->erase(u);
        if (rest->empty()) return sum;
        for (const auto& [u, groups] : *rest) {
            const double leaves = double(count_boxes(u, trees, groups));
            boxes += leaves;
            overlaps += overlaps_of(leaves, index(u.size()));
        }
    }
    const double visits = estimated_visits(trees);
    const bool by_subspace =
        rest && boxes <= limits.boxes && overlaps <= limits.overlaps && overlaps < kOverlapsPerVisit * visits;
    if (!by_subspace) {
        if (visits > limits.visits)
            refuse(visits, limits.visits, "visits of nodes for pairs of trees, for the variance of the whole model,");
        return tree_variance(trees, n_threads);
    }
    std::vector<std::pair<const Subspace*, const std::vector<index>*>> tasks;
    for (const auto& [u, groups] : *rest) tasks.emplace_back(&u, &groups);
    std::vector<BoxList> lists(tasks.size());
    parallel_for(index(tasks.size()), n_threads,
                 [&](index k) { lists[k] = merged(boxes_in(*tasks[k].first, trees, *tasks[k].second)); });
    std::vector<const BoxList*> pointers;
    for (const BoxList& list : lists) pointers.push_back(&list);
    const std::vector<double> others = box_variances(pointers, *trees.marginals(), n_threads);
    return std::accumulate(others.begin(), others.end(), sum);
}

}  // namespace fasthdmr
