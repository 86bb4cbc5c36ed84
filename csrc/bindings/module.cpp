// Defines the module _core: calls the bind function of each family.
#include "pybind.hpp"

PYBIND11_MODULE(_core, m, py::mod_gil_not_used()) {
    m.doc() = "The compiled core of fasthdmr: forests, features, triangles, hierarchies.";
    fasthdmr::bind_config(m);
    fasthdmr::bind_forest(m);
    fasthdmr::bind_dictionary(m);
    fasthdmr::bind_hierarchy(m);
    fasthdmr::bind_product(m);
    fasthdmr::bind_records(m);
    fasthdmr::bind_loaders(m);
    fasthdmr::bind_spans(m);
    fasthdmr::bind_values(m);
    fasthdmr::bind_inspection(m);
}
