// The values of single variables: their distributions, and the cells that contain them.
#include "released.hpp"
#include "spans/cells.hpp"
#include "spans/profiles.hpp"

namespace fasthdmr {

namespace {

// (column, breaks, is_categorical, low, high)
using GivenCells = std::tuple<index, std::vector<double>, bool, double, double>;

CellAxis to_axis(const GivenCells& given) {
    const auto& [column, breaks, is_categorical, low, high] = given;
    return {column, breaks, is_categorical, low, high};
}

py::array_t<index> cells_of(const GivenCells& axis, const py::array& x) {
    const Table table = as_table(x);
    py::array_t<index> out(table.rows);
    find_cells(to_axis(axis), table, out.mutable_data());
    return out;
}

py::list occupied(const std::vector<GivenCells>& given, const std::vector<std::pair<index, index>>& pairs,
                  const py::array& x, const std::optional<Doubles>& weight, int n_threads) {
    std::vector<CellAxis> axes;
    for (const GivenCells& each : given) axes.push_back(to_axis(each));
    const Table table = as_table(x);
    const double* w = optional_vector(weight, table.rows, "weight");
    std::vector<std::vector<char>> holds;
    {
        const Released released;
        holds = occupied_cells(axes, pairs, table, w, n_threads);
    }
    py::list out;
    for (const std::vector<char>& cells : holds) {
        py::array_t<bool> each(index(cells.size()));
        std::copy(cells.begin(), cells.end(), each.mutable_data());
        out.append(each);
    }
    return out;
}

// Distinct values, their weights, and whether there are missing values, by column.
py::list value_profiles(const py::array& x, const std::optional<Doubles>& weight, index step,
                        const std::vector<index>& columns, int n_threads) {
    const Table table = as_table(x);
    const double* w = optional_vector(weight, table.rows, "weight");
    std::vector<Profile> found;
    {
        const Released released;
        found = profiles(table, w, step, columns, n_threads);
    }
    py::list out;
    for (Profile& each : found)
        out.append(py::make_tuple(owning_array(std::move(each.values)), owning_array(std::move(each.weights)),
                                  each.has_missing));
    return out;
}

}  // namespace

void bind_values(py::module_& m) {
    m.def("value_profiles", &value_profiles, py::arg("x"), py::arg("weight").none(true), py::arg("step"),
          py::arg("columns"), py::arg("n_threads"));
    m.def("find_cells", &cells_of, py::arg("axis"), py::arg("x"));
    m.def("occupied_cells", &occupied, py::arg("axes"), py::arg("pairs"), py::arg("x"), py::arg("weight").none(true),
          py::arg("n_threads"));
}

}  // namespace fasthdmr
