// Partial dependence of a forest.
#include "inspection/partial_dependence.hpp"
#include "pybind.hpp"
#include "released.hpp"

namespace fasthdmr {

namespace {

// One array for each grid, of shape (n_outputs, *sizes of its axes).
py::list partial_dependence_arrays(const Forest& forest, const py::array& x, const std::optional<Doubles>& weight,
                                   const std::vector<std::pair<std::int32_t, std::vector<double>>>& axes,
                                   const std::vector<std::vector<index>>& grids, int n_threads) {
    const Table table = as_table(x, forest.n_features());
    const double* w = optional_vector(weight, table.rows, "weight");
    std::vector<GridAxis> made;
    for (const auto& [variable, values] : axes) made.push_back({variable, values});
    std::vector<std::vector<double>> means;
    {
        const Released released;
        means = partial_dependence(forest, table, w, made, grids, n_threads);
    }
    py::list result;
    for (std::size_t g = 0; g < grids.size(); ++g) {
        std::vector<index> shape{forest.n_outputs()};
        for (const index a : grids[g]) shape.push_back(index(made[a].values.size()));
        result.append(py::array_t<double>(shape, means[g].data()));
    }
    return result;
}

}  // namespace

void bind_inspection(py::module_& m) {
    m.def("partial_dependence", &partial_dependence_arrays, py::arg("forest"), py::arg("x"), py::kw_only(),
          py::arg("weight").noconvert().none(true), py::arg("axes"), py::arg("grids"), py::arg("n_threads"));
}

}  // namespace fasthdmr
