// The only file that includes pybind11: array types, and conversions that several bindings need.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "forest/comparison.hpp"
#include "forest/grouping.hpp"
#include "support/arrays.hpp"

namespace py = pybind11;

namespace fasthdmr {

using Doubles = py::array_t<double, py::array::c_style>;
using Integers = py::array_t<std::int64_t, py::array::c_style>;
using Bytes = py::array_t<std::uint8_t, py::array::c_style>;

// A float32 or float64 matrix in any memory order, not copied.
inline Table as_table(const py::array& a) {
    const bool is_float32 = py::isinstance<py::array_t<float>>(a);
    if (!is_float32 && !py::isinstance<py::array_t<double>>(a))
        throw py::type_error("expected a float32 or float64 array");
    if (a.ndim() != 2)
        throw Error("expected a two-dimensional array, got " + std::to_string(a.ndim()) + " dimension(s)");
    return {static_cast<const char*>(a.data()), is_float32, a.shape(0), a.shape(1), a.strides(0), a.strides(1)};
}

inline Table as_table(const py::array& a, index columns) {
    const Table table = as_table(a);
    if (table.columns != columns)
        throw Error("expected " + std::to_string(columns) + " columns, got " + std::to_string(table.columns));
    return table;
}

// Checks the length of a vector argument.
template <class Array>
const typename Array::value_type* vector(const Array& a, index size, const char* name) {
    if (a.ndim() < 1 || a.size() != size)
        throw Error(std::string(name) + " must have " + std::to_string(size) + " values, got " +
                    std::to_string(a.size()));
    return a.data();
}

inline const double* optional_vector(const std::optional<Doubles>& a, index size, const char* name) {
    return a ? vector(*a, size, name) : nullptr;
}

// An uninitialised column-major matrix.
inline py::array_t<double> column_major(index rows, index columns) {
    constexpr index item = sizeof(double);
    return py::array_t<double>({rows, columns}, {item, item * std::max<index>(rows, 1)});
}

// Binds a class whose __new__ returns complete objects, made by the static method `_make`. A class without `_make`
// cannot be instantiated from Python. pybind11 makes objects in __init__ instead. A serialiser that calls __new__
// alone would then get an object that was never constructed, and old protocols of pickle would end the process.
template <class T>
py::classh<T> bind_class(py::module_& m, const char* name) {
    const auto setup = [](PyHeapTypeObject* heap_type) {
        heap_type->ht_type.tp_new = [](PyTypeObject* type, PyObject* args, PyObject* kwargs) -> PyObject* {
            PyObject* make = PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "_make");
            if (!make) return PyErr_Format(PyExc_TypeError, "cannot create '%s' instances", type->tp_name);
            PyObject* made = PyObject_Call(make, args, kwargs);
            Py_DECREF(make);
            return made;
        };
        heap_type->ht_type.tp_init = [](PyObject*, PyObject*, PyObject*) { return 0; };
    };
    return py::classh<T>(m, name, py::is_final(), py::custom_type_setup(setup));
}

// Pickles and copies with any protocol: the class is called with the state.
template <class T, class Get, class Set>
void bind_state(py::classh<T>& bound, Get get, Set set) {
    bound.def("__getstate__", get);
    bound.def("__reduce__",
              [get](const T& self) { return py::make_tuple(py::type::of<T>(), py::make_tuple(get(self))); });
    bound.def_static("_make", [set](const py::tuple& state) {
        try {
            return set(state);
        } catch (const py::cast_error&) {
            throw Error("a damaged state: it holds something else than fasthdmr writes");
        }
    });
}

inline py::array_t<index> to_array(const std::vector<index>& v) {
    return py::array_t<index>(index(v.size()), v.data());
}
inline py::array_t<double> to_array(const std::vector<double>& v) {
    return py::array_t<double>(index(v.size()), v.data());
}

// An array that owns the numbers.
template <class T>
py::array_t<T> owning_array(std::vector<T>&& numbers) {
    auto kept = std::make_unique<std::vector<T>>(std::move(numbers));
    const index count = index(kept->size());
    const T* data = kept->data();
    const py::capsule owner(kept.get(), [](void* vector) { delete static_cast<std::vector<T>*>(vector); });
    kept.release();
    return py::array_t<T>(count, data, owner);
}

inline py::tuple to_tuple(const Subspace& u) {
    py::tuple result(u.size());
    for (std::size_t i = 0; i < u.size(); ++i) result[i] = py::int_(u[i]);
    return result;
}

inline py::list to_list(const std::vector<Subspace>& subspaces) {
    py::list result;
    for (const Subspace& u : subspaces) result.append(to_tuple(u));
    return result;
}

// A comparison as plain objects: the number of features, the thresholds of each feature (empty for float32), the
// replacements, the features and cuts of the sets, the variables of the features, and the column of the first one.
inline std::vector<Replacement> as_replacements(const Doubles& rows) {
    if (rows.ndim() != 2 || rows.shape(1) != 3) throw Error("replacements must be of shape (n, 3)");
    std::vector<Replacement> result;
    for (index k = 0; k < rows.shape(0); ++k) result.push_back({rows.at(k, 0), rows.at(k, 1), rows.at(k, 2)});
    return result;
}

inline py::tuple comparison_state(const Comparison& comparison) {
    Doubles replaced({index(comparison.replaced().size()), index(3)});
    for (index k = 0; k < replaced.shape(0); ++k) {
        replaced.mutable_at(k, 0) = comparison.replaced()[k].low;
        replaced.mutable_at(k, 1) = comparison.replaced()[k].high;
        replaced.mutable_at(k, 2) = comparison.replaced()[k].by;
    }
    py::list thresholds;
    for (const auto& sorted : comparison.thresholds()) thresholds.append(to_array(sorted));
    std::vector<index> features;
    const std::vector<index> variables(comparison.variables().begin(), comparison.variables().end());
    py::list cuts;
    for (index s = 0; s < comparison.sets().size(); ++s) {
        const ValueSet set = comparison.sets()[s];
        features.push_back(set.feature);
        cuts.append(py::array_t<double>(set.size(), set.begin()));
    }
    return py::make_tuple(comparison.n_features(), thresholds, replaced, to_array(features), cuts, to_array(variables),
                          comparison.first());
}

inline std::vector<std::vector<double>> as_vectors(const py::list& arrays) {
    std::vector<std::vector<double>> result;
    for (const py::handle each : arrays) {
        const auto numbers = each.cast<Doubles>();
        result.emplace_back(numbers.data(), numbers.data() + numbers.size());
    }
    return result;
}

inline std::shared_ptr<const Comparison> to_comparison(const py::tuple& state) {
    if (state.size() != 7) throw Error("a damaged state: a comparison has seven parts");
    auto thresholds = as_vectors(state[1].cast<py::list>());
    auto replaced = as_replacements(state[2].cast<Doubles>());
    const auto features = state[3].cast<std::vector<index>>();
    const auto cuts = as_vectors(state[4].cast<py::list>());
    if (features.size() != cuts.size()) throw Error("a damaged state: every set needs a feature");
    ValueSets sets;
    for (std::size_t s = 0; s < cuts.size(); ++s)
        sets.append({features[s], cuts[s].data(), cuts[s].data() + cuts[s].size()});
    const Comparison own = thresholds.empty() ? Comparison(state[0].cast<index>(), std::move(replaced))
                                              : Comparison(std::move(thresholds), std::move(replaced), std::move(sets));
    return std::make_shared<const Comparison>(
        own.of_variables(state[5].cast<std::vector<std::int32_t>>(), state[6].cast<index>()));
}

void bind_forest(py::module_& m);
void bind_dictionary(py::module_& m);
void bind_hierarchy(py::module_& m);
void bind_loaders(py::module_& m);
void bind_product(py::module_& m);
void bind_records(py::module_& m);
void bind_spans(py::module_& m);
void bind_values(py::module_& m);
void bind_inspection(py::module_& m);
void bind_config(py::module_& m);

}  // namespace fasthdmr
