#include "inspection/path_weights.hpp"

#include <algorithm>

#include "support/parallel.hpp"

namespace fasthdmr {

namespace {

// In trees with at most this many splits, rows are encoded by one bit for the outcome of each split, so that a code
// fits into a byte. Rows with equal codes are merged.
constexpr index kCodedSplits = 8;
constexpr index kCodes = 1 << kCodedSplits;
constexpr index kItemsPerPoll = 1 << 16;

// Stable partition: moves the items that go left to the front, and returns their number.
template <class GoesRight>
index partition_items(std::int32_t* items, index count, std::int32_t* right, const GoesRight& goes_right) {
    index n_left = 0, n_right = 0;
    for (index k = 0; k < count; ++k) {
        const std::int32_t item = items[k];
        const bool r = goes_right(item);
        items[n_left] = right[n_right] = item;
        n_left += !r;
        n_right += r;
    }
    std::copy_n(right, n_right, items + n_left);
    return n_left;
}

// Traverses a tree with weighted items (rows, or codes of rows). At a split an item continues to its own child, and
// also to the other child with the split's variable added to its free set. If the variable is free already, all items
// continue to both children. Ranges of items on the stack are disjoint or nested, with the shorter range on top. So all
// ranges share one list, and each is partitioned in place.
template <class GoesRight>
void traverse(const Forest& forest, index t, const FreeSets& free, std::vector<std::int32_t>& items,
              const double* weight, const GoesRight& goes_right, std::vector<double>& weights) {
    const Node* tree = forest.tree(t);
    struct Task {
        std::int32_t node, set;
        index begin, end;
    };
    std::vector<std::int32_t> spare(items.size());
    std::vector<Task> tasks;
    const auto push = [&](std::int32_t node, std::int32_t set, index begin, index end) {
        if (begin < end) tasks.push_back({node, set, begin, end});
    };
    push(0, 0, 0, index(items.size()));
    index moved = 0;
    while (!tasks.empty()) {
        const auto [m, set, begin, end] = tasks.back();
        tasks.pop_back();
        moved += 1 + end - begin;
        if (moved > kItemsPerPoll) {
            poll();
            moved = 0;
        }
        if (Forest::is_leaf(tree, m)) {
            double sum = 0.0;
            for (index k = begin; k < end; ++k) sum += weight[items[k]];
            weights[m * free.count() + set] += sum;
            continue;
        }
        const std::int32_t left = tree[m].left, right = left + 1, freed = free.with(set, forest.variable(tree[m]));
        if (freed == set) {
            push(left, set, begin, end);
            push(right, set, begin, end);
            continue;
        }
        const auto right_at_m = [&, m = m](std::int32_t item) { return goes_right(m, item); };
        const index middle = begin + partition_items(&items[begin], end - begin, spare.data(), right_at_m);
        push(left, set, begin, middle);
        push(right, set, middle, end);
        if (freed < 0) continue;
        push(left, freed, middle, end);
        push(right, freed, begin, middle);
    }
}

// Sets the bit of a node in the codes of the rows that go right.
void add_bit(const Node& node, bool missing_left, const float* x, index rows, int bit, std::uint8_t* codes) {
    const float threshold = node.threshold;
    if (missing_left)
        for (index r = 0; r < rows; ++r) codes[r] = std::uint8_t(codes[r] | (x[r] > threshold) << bit);
    else
        for (index r = 0; r < rows; ++r) codes[r] = std::uint8_t(codes[r] | !(x[r] <= threshold) << bit);
}

void traverse_by_codes(const Forest& forest, index t, const WeightedRows& rows, const FreeSets& free,
                       std::vector<double>& weights) {
    const Node* tree = forest.tree(t);
    std::vector<std::uint8_t> codes(rows.count, 0);
    int bit_of[2 * kCodedSplits + 1] = {}, bits = 0;
    for (index m = 0; m < forest.tree_size(t); ++m) {
        if (Forest::is_leaf(tree, m)) continue;
        add_bit(tree[m], forest.missing_left(t)[m], rows.column(tree[m].feature), rows.count, bits, codes.data());
        bit_of[m] = bits++;
    }
    double weight[kCodes] = {};
    for (index r = 0; r < rows.count; ++r) weight[codes[r]] += rows.weight[r];
    std::vector<std::int32_t> items;
    for (std::int32_t code = 0; code < kCodes; ++code)
        if (weight[code] != 0.0) items.push_back(code);
    traverse(
        forest, t, free, items, weight, [&](std::int32_t m, std::int32_t code) { return (code >> bit_of[m] & 1) != 0; },
        weights);
}

void traverse_by_rows(const Forest& forest, index t, const WeightedRows& rows, const FreeSets& free,
                      std::vector<double>& weights) {
    const Node* tree = forest.tree(t);
    const std::uint8_t* missing_left = forest.missing_left(t);
    std::vector<std::int32_t> items(rows.count);
    for (index r = 0; r < rows.count; ++r) items[r] = std::int32_t(r);
    traverse(
        forest, t, free, items, rows.weight.data(),
        [&](std::int32_t m, std::int32_t r) {
            return goes_right(tree[m], missing_left[m], rows.column(tree[m].feature)[r]);
        },
        weights);
}

}  // namespace

FreeSets::FreeSets(index n_features, const std::vector<Subspace>& sets) : free_number_(n_features, -1) {
    number_[{}] = 0;
    for (const Subspace& set : sets) {
        for (const std::int32_t variable : set)
            if (free_number_[variable] < 0) free_number_[variable] = std::int32_t(n_free_++);
        for (std::uint32_t chosen = 0; chosen < 1u << set.size(); ++chosen) {
            Subspace subset;
            for (std::size_t k = 0; k < set.size(); ++k)
                if (chosen >> k & 1) subset.push_back(set[k]);
            number_.emplace(subset, std::int32_t(number_.size()));
        }
    }
    with_.assign(count() * n_free_, -1);
    for (const auto& [set, number] : number_)
        for (const std::int32_t variable : set) {
            Subspace without = set;
            without.erase(std::find(without.begin(), without.end(), variable));
            with_[number * n_free_ + free_number_[variable]] = number;
            with_[number_.at(without) * n_free_ + free_number_[variable]] = number;
        }
}

std::vector<std::int32_t> FreeSets::subsets(const Subspace& set) const {
    std::vector<std::int32_t> result;
    for (const auto& [subset, number] : number_)
        if (std::includes(set.begin(), set.end(), subset.begin(), subset.end())) result.push_back(number);
    return result;
}

void WeightedRows::load(const Comparison& comparison, const Table& x, const double* weights, const Rows& rows,
                        int n_threads) {
    count = rows.count;
    values.resize(comparison.columns() * count);
    weight.resize(count);
    for (index r = 0; r < count; ++r) weight[r] = weights ? weights[rows[r]] : 1.0;
    const index n_features = comparison.n_features();
    parallel_for(n_features, n_threads, [&](index j) { comparison.load(x, rows, j, values.data() + j * count); });
    parallel_for(comparison.columns() - n_features, n_threads, [&](index s) {
        const index j = n_features + s;
        comparison.load_set(j, column(comparison.feature(j)), count, values.data() + j * count);
    });
}

std::vector<double> path_weights(const Forest& forest, index tree, const WeightedRows& rows, const FreeSets& free) {
    std::vector<double> weights(forest.tree_size(tree) * free.count(), 0.0);
    const index splits = forest.tree_size(tree) / 2;
    (splits <= kCodedSplits ? traverse_by_codes : traverse_by_rows)(forest, tree, rows, free, weights);
    return weights;
}

}  // namespace fasthdmr
