// Conversion of components and decompositions to arrays and back.
#pragma once

#include "hierarchy/hierarchy.hpp"
#include "pybind.hpp"

namespace fasthdmr {

inline Components as_components(const Integers& begin, const Integers& column, const Doubles& weight, index n_columns) {
    const index count = begin.size() - 1, entries = column.size();
    vector(weight, entries, "weight");
    Components components;
    components.begin.assign(begin.data(), begin.data() + begin.size());
    components.column.assign(column.data(), column.data() + entries);
    components.weight.assign(weight.data(), weight.data() + entries);
    if (count < 0 || components.begin.front() != 0 || components.begin.back() != entries ||
        !std::is_sorted(components.begin.begin(), components.begin.end()))
        throw Error("begin must ascend from 0 to the number of entries");
    for (const index j : components.column)
        if (j < 0 || j >= n_columns) throw Error("no such column: " + std::to_string(j));
    return components;
}

// Evaluates component functions, linear combinations of (1, columns), at rows.
template <class Kind>  // of BlockColumns
py::array_t<double> evaluate_array(const Kind& columns, const py::array& x, const Integers& begin,
                                   const Integers& column, const Doubles& weight, int n_threads) {
    const Table table = as_table(x);
    const Components components = as_components(begin, column, weight, columns.count() + 1);
    auto out = column_major(table.rows, components.count());
    double* data = out.mutable_data();
    py::gil_scoped_release release;
    evaluate(columns, table, components, data, n_threads);
    return out;
}

inline py::dict to_dict(const Decomposition& result) {
    py::dict out;
    out["constant"] = result.constant;
    out["begin"] = to_array(result.components.begin);
    out["column"] = to_array(result.components.column);
    out["weight"] = to_array(result.components.weight);
    out["variance"] = to_array(result.variance);
    out["covariance"] = to_array(result.covariance);
    out["total"] = result.total;
    return out;
}

}  // namespace fasthdmr
