// The configuration of the build, and the counter of rows for progress bars.
#include "kernels/kernels.hpp"
#include "linalg/lapack.hpp"
#include "pybind.hpp"
#include "support/progress.hpp"

#define FASTHDMR_TEXT_(a) #a
#define FASTHDMR_TEXT(a) FASTHDMR_TEXT_(a)

namespace fasthdmr {

void bind_config(py::module_& m) {
    const py::capsule routines = py::module_::import("fasthdmr._lapack").attr("routines");
    set_lapack(*static_cast<const Lapack*>(routines.get_pointer()));

    m.def("build_config", [] {
        py::dict config;
        config["compiler"] = FASTHDMR_COMPILER;
        config["cpp_standard"] = long(__cplusplus);
        config["pybind11"] = FASTHDMR_TEXT(PYBIND11_VERSION_MAJOR) "." FASTHDMR_TEXT(PYBIND11_VERSION_MINOR);
        config["code_path"] = kernels().name;
        return config;
    });
    m.def("rows_done", [] { return rows_done().load(); });
}

}  // namespace fasthdmr
