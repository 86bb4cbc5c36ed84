#include "features/paired_paths.hpp"

#include "kernels/kernels.hpp"

namespace fasthdmr {

namespace {

// The outcome of one path of a pair for a row with missing values.
int follow(const CodedPaths& pair, int first, const RankedBlock& block, const Thresholds& thresholds, index row) {
    const auto passes = [&](int m) {
        const bool is_complement = pair.variable[m] >= thresholds.variables();
        const index variable = pair.variable[m] - (is_complement ? thresholds.variables() : 0);
        const std::int32_t rank = block.ranks(variable)[row];
        if (rank > thresholds.count(variable)) return bool(pair.missing >> m & 1);
        const std::int32_t code = rank + kLowestCode;
        return (is_complement ? ~code : code) > std::int16_t(pair.code[m]);
    };
    return passes(first) && passes(first + 1) ? 1 + passes(first + 2) : 0;
}

}  // namespace

void PairedPaths::append(const Forest& forest, const Thresholds& thresholds, index tree,
                         const std::vector<std::int32_t>& nodes, const double (&values)[2]) {
    const int first = last_is_half_ ? 3 : 0, n_nodes = int(nodes.size()), padding = kShallowDepth - n_nodes;
    const std::int32_t complements = std::int32_t(thresholds.variables());
    if (first == 0) {
        paths_.emplace_back();
        for (int m = 3; m < 6; ++m)
            paths_.back().code[m] = in_both_halves(kNeverRight);  // no row passes an absent second path
    }
    last_is_half_ = !last_is_half_;
    CodedPaths& pair = paths_.back();
    for (int m = first; m < first + padding; ++m) {  // every row passes: all complements of codes are greater
        pair.variable[m] = forest.tree(tree)[0].feature + complements;
        pair.code[m] = in_both_halves(kLowestCode);
        pair.missing |= std::uint8_t(1 << m);
    }
    for (int k = 0, m = first + padding; k < n_nodes; ++k, ++m) {
        const Node& node = forest.tree(tree)[nodes[k]];
        const bool to_the_right = k + 1 == n_nodes || nodes[k + 1] == node.left + 1;
        const std::int32_t code = thresholds.rank(forest, tree, nodes[k]) + kLowestCode;
        pair.variable[m] = node.feature + (to_the_right ? 0 : complements);
        pair.code[m] = in_both_halves(to_the_right ? code : ~code - 1);
        const bool missing_goes_right = !forest.missing_left(tree)[nodes[k]];
        pair.missing |= std::uint8_t((missing_goes_right == to_the_right) << m);
    }
    for (int k = 0; k < 2; ++k)
        if (first == 0) pair.value[3 * k + 3] = values[k];
        else
            for (int i = 0; i < 3; ++i) pair.value[3 * i + k + 1] = pair.value[3 * i] + values[k];
}

// Rows with missing values are summed separately, as in CodedTrees.
void PairedPaths::add(const RankedBlock& block, const Thresholds& thresholds, double* out) const {
    if (paths_.empty()) return;
    std::vector<double> rest;
    for (const index row : block.missing()) rest.push_back(out[row]);
    kernels().add_paths(paths_.data(), index(paths_.size()), block.codes(), kBlockRows, block.rows(), out);
    for (std::size_t k = 0; k < rest.size(); ++k) {
        const index row = block.missing()[k];
        for (const CodedPaths& pair : paths_)
            rest[k] +=
                pair.value[3 * follow(pair, 0, block, thresholds, row) + follow(pair, 3, block, thresholds, row)];
        out[row] = rest[k];
    }
}

}  // namespace fasthdmr
