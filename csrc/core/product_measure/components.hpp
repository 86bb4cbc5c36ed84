// The HDMR of trees under the product of the marginals: exact, from the boxes of their leaves (spec 4). A leaf of value
// c adds c * prod_{j in u} (1_j(x_j) - p_j) * prod_{other j} p_j to f_u, for every u within the variables of its path.
#pragma once

#include <optional>
#include <vector>

#include "dictionary/dictionary.hpp"
#include "features/lookup_tables.hpp"
#include "product_measure/variance.hpp"

namespace fasthdmr {

// Step functions of one and two variables are tables as long as all of them take no more.
constexpr std::uint64_t kProductTableBytes = std::uint64_t(512) << 20;

// Component functions as columns.
class ProductComponents : public BlockColumns {
public:
    // Of up to `order` variables; with two and more only the chosen subspaces, if there is a choice.
    ProductComponents(const ProductTrees& trees, index order, const std::optional<std::vector<Subspace>>& chosen,
                      std::uint64_t table_bytes, int n_threads, const Limits& limits = {});

    const std::vector<Subspace>& subspaces() const { return subspaces_; }
    index tables() const;  // how many components are tables
    index count() const override { return index(components_.size()); }
    index n_features() const override { return marginals_->thresholds().variables(); }
    const Comparison& comparison() const override { return comparison_; }
    void fill(const InputBlock& block, double* const* out) const override;

    // Var(f_u); there are no covariances.
    std::vector<double> variances(int n_threads, const Limits& limits = {}) const;

private:
    // Either of them.
    struct Component {
        Tables table;
        double variance = 0.0;  // of a table
        BoxList boxes;
    };
    void add_boxes(const BoxList& boxes, const RankedBlock& block, double* out) const;

    std::shared_ptr<const Marginals> marginals_;
    Comparison comparison_;  // ranks of variables are all that components ask for
    std::vector<Subspace> subspaces_;
    std::vector<Component> components_;
};

// Var(f) with all its components, of which some variances are known.
double total_variance(const ProductTrees& trees, const std::vector<Subspace>& known,
                      const std::vector<double>& variances, int n_threads, const Limits& limits = {});

}  // namespace fasthdmr
