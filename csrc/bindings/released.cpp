// Release of the GIL during long work, and signals that end it.
#include "released.hpp"

namespace fasthdmr {

namespace {

void acquire_and_check() {
    const py::gil_scoped_acquire acquire;
    check_signals();
}

// Python handles signals on its main thread only.
bool is_main_thread() {
    PYBIND11_CONSTINIT static py::gil_safe_call_once_and_store<py::object> main_thread;
    const py::object& function =
        main_thread
            .call_once_and_store_result([] { return py::object(py::module_::import("threading").attr("main_thread")); })
            .get_stored();
    return function().attr("ident").cast<unsigned long>() == PyThread_get_thread_ident();
}

}  // namespace

void check_signals() {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

Released::Released() : call_(is_main_thread() ? &acquire_and_check : nullptr) {}

}  // namespace fasthdmr
