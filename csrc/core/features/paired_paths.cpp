#include "features/paired_paths.hpp"

#include "kernels/kernels.hpp"

namespace fasthdmr {

void PairedPaths::append(const Forest& forest, const Thresholds& thresholds, index tree,
                         const std::vector<std::int32_t>& nodes, const double (&values)[2]) {
    const int first = last_is_half_ ? 3 : 0, n_nodes = int(nodes.size()), padding = kShallowDepth - n_nodes;
    const std::int32_t complements = thresholds.code_columns();
    if (first == 0) {
        paths_.emplace_back();
        for (int m = 3; m < 6; ++m)
            paths_.back().code[m] = in_both_halves(kNeverRight);  // no row passes an absent second path
    }
    last_is_half_ = !last_is_half_;
    CodedPaths& pair = paths_.back();
    for (int m = first; m < first + padding; ++m) {  // every row passes: all complements of codes are greater
        pair.variable[m] = thresholds.code_column(forest, tree, 0) + complements;
        pair.code[m] = in_both_halves(kLowestCode);
    }
    for (int k = 0, m = first + padding; k < n_nodes; ++k, ++m) {
        const Node& node = forest.tree(tree)[nodes[k]];
        const bool to_the_right = k + 1 == n_nodes || nodes[k + 1] == node.left + 1;
        const std::int32_t code = thresholds.rank(forest, tree, nodes[k]) + kLowestCode;
        pair.variable[m] = thresholds.code_column(forest, tree, nodes[k]) + (to_the_right ? 0 : complements);
        pair.code[m] = in_both_halves(to_the_right ? code : ~code - 1);
    }
    for (int k = 0; k < 2; ++k)
        if (first == 0) pair.value[3 * k + 3] = values[k];
        else
            for (int i = 0; i < 3; ++i) pair.value[3 * i + k + 1] = pair.value[3 * i] + values[k];
}

void PairedPaths::add(const RankedBlock& block, double* out) const {
    if (!paths_.empty())
        kernels().add_paths(paths_.data(), index(paths_.size()), block.codes(), block.leading(), block.rows(), out);
}

}  // namespace fasthdmr
