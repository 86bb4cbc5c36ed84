// The exact HDMR of trees under the product of the marginals. A leaf of value c, with constraints of indicators 1_j and
// probabilities p_j, adds c * prod_{j in u} (1_j(x_j) - p_j) * prod_{other j} p_j to f_u, for every subset u of the
// variables of its path.
#pragma once

#include <optional>
#include <vector>

#include "dictionary/dictionary.hpp"
#include "features/lookup_tables.hpp"
#include "product_measure/box_tables.hpp"
#include "product_measure/variance.hpp"

namespace fasthdmr {

// Memory budget of all lookup tables of components.
constexpr std::uint64_t kProductTableBytes = std::uint64_t(512) << 20;

// Component functions as columns. Within a memory budget they are lookup tables: one for one or two variables, several
// for up to six. The others are sums of boxes.
class ProductComponents : public BlockColumns {
public:
    // Components of up to `order` variables. If subspaces are chosen, those of two and more variables are only these.
    ProductComponents(const ProductTrees& trees, index order, const std::optional<std::vector<Subspace>>& chosen,
                      std::uint64_t table_bytes, int n_threads, const Limits& limits = {});

    const std::vector<Subspace>& subspaces() const { return subspaces_; }
    index tables() const;  // number of components that are tables
    index count() const override { return index(components_.size()); }
    index input_columns() const override { return marginals_->thresholds().variables(); }
    const Comparison& comparison() const override { return comparison_; }
    void fill(const InputBlock& block, double* const* out) const override;

    // Var(f_u). Components are uncorrelated under a product measure.
    std::vector<double> variances(int n_threads, const Limits& limits = {}) const;

private:
    struct Component {
        Tables table;                      // of one or two variables
        double variance = 0.0;             // of this table
        BoxList boxes;                     // if there is no such table
        std::vector<BoxTable> box_tables;  // of these boxes, or none
    };
    void add_boxes(const BoxList& boxes, const RankedBlock& block, double* out) const;

    std::shared_ptr<const Marginals> marginals_;
    Comparison comparison_;  // without columns of sets, since components depend on the ranks of variables
    std::vector<Subspace> subspaces_;
    std::vector<Component> components_;
};

// Var(f): the sum of the variances of all components, of which those of the subspaces `known` are given.
double total_variance(const ProductTrees& trees, const std::vector<Subspace>& known,
                      const std::vector<double>& variances, int n_threads, const Limits& limits = {});

}  // namespace fasthdmr
