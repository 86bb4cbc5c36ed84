// Components and variances under the product measure.
#include <memory>

#include "product_measure/components.hpp"
#include "released.hpp"
#include "results.hpp"

namespace fasthdmr {

namespace {

using Forests = std::vector<std::shared_ptr<const Forest>>;

Forests as_forests(const std::vector<std::shared_ptr<Forest>>& forests) {
    if (forests.empty()) throw Error("no forests");
    return {forests.begin(), forests.end()};
}

std::shared_ptr<Marginals> make_marginals(const std::vector<std::shared_ptr<Forest>>& forests, const py::array& x,
                                          const std::optional<Doubles>& weight, int n_threads) {
    const Forests shared = as_forests(forests);
    const Table table = as_table(x);
    const double* weight_ = optional_vector(weight, table.rows, "weight");
    const Released released;
    return std::make_shared<Marginals>(shared, table, weight_, n_threads);
}

// For each variable the thresholds and the cumulative weights of its ranks; then the comparison.
py::tuple get_state(const Marginals& marginals) {
    py::list sorted, below;
    for (index v = 0; v < marginals.thresholds().variables(); ++v) {
        sorted.append(py::array_t<float>(marginals.thresholds().count(v), marginals.thresholds().sorted(v)));
        below.append(to_array(marginals.below(v)));
    }
    return py::make_tuple(sorted, below, comparison_state(*marginals.comparison()));
}

std::shared_ptr<Marginals> set_state(const py::tuple& state) {
    if (state.size() != 3) throw Error("a damaged state: marginal distributions need thresholds and weights");
    return std::make_shared<Marginals>(to_comparison(state[2].cast<py::tuple>()),
                                       state[0].cast<std::vector<std::vector<float>>>(),
                                       state[1].cast<std::vector<std::vector<double>>>());
}

std::shared_ptr<ProductTrees> make_trees(const std::vector<std::shared_ptr<Forest>>& forests, index output,
                                         const std::vector<Doubles>& factors, std::shared_ptr<Marginals> marginals) {
    const Forests shared = as_forests(forests);
    if (factors.size() != shared.size()) throw Error("every forest needs factors");
    std::vector<const double*> pointers;
    for (std::size_t i = 0; i < shared.size(); ++i) {
        if (output < 0 || output >= shared[i]->n_outputs()) throw Error("no such output: " + std::to_string(output));
        pointers.push_back(vector(factors[i], shared[i]->n_trees(), "factors"));
    }
    const Released released;
    return std::make_shared<ProductTrees>(shared, output, pointers, std::move(marginals));
}

}  // namespace

void bind_product(py::module_& m) {
    auto marginals = bind_class<Marginals>(m, "Marginals");
    marginals.def("merged", &Marginals::merged, py::arg("other"));
    marginals.def_static("_make", &make_marginals, py::arg("forests"), py::arg("x"), py::kw_only(),
                         py::arg("weight").noconvert().none(true), py::arg("n_threads"));
    bind_state(marginals, &get_state, &set_state);
    bind_class<ProductTrees>(m, "ProductTrees")
        .def_static("_make", &make_trees, py::arg("forests"), py::arg("output"), py::arg("factors"),
                    py::arg("marginals"))
        .def_property_readonly("mean", &ProductTrees::mean)
        .def(
            "total_variance",
            [](const ProductTrees& trees, const std::vector<Subspace>& known, const std::vector<double>& variances,
               int n_threads) { return total_variance(trees, known, variances, n_threads); },
            py::arg("known"), py::arg("variances"), py::arg("n_threads"), py::call_guard<Released>());
    bind_class<ProductComponents>(m, "ProductComponents")
        .def_static(
            "_make",
            [](const ProductTrees& trees, index order, const std::optional<std::vector<Subspace>>& chosen,
               int n_threads, std::uint64_t table_bytes) {
                const Released released;
                return std::make_shared<ProductComponents>(trees, order, chosen, table_bytes, n_threads);
            },
            py::arg("trees"), py::arg("order"), py::arg("chosen").none(true), py::arg("n_threads"),
            py::arg("table_bytes") = kProductTableBytes)
        .def_property_readonly("subspaces", [](const ProductComponents& c) { return to_list(c.subspaces()); })
        .def_property_readonly("tables", &ProductComponents::tables)
        .def(
            "variances",
            [](const ProductComponents& c, int n_threads) {
                std::vector<double> variances;
                {
                    const Released released;
                    variances = c.variances(n_threads);
                }
                return to_array(variances);
            },
            py::arg("n_threads"))
        .def("evaluate", &evaluate_array<ProductComponents>, py::arg("x"), py::arg("begin").noconvert(),
             py::arg("column").noconvert(), py::arg("weight").noconvert(), py::arg("n_threads"));
}

}  // namespace fasthdmr
