// Long work without the GIL.
#pragma once

#include "interruption.hpp"
#include "pybind.hpp"

namespace fasthdmr {

// While it lives the GIL is released, and a signal that Python handles with an exception, as it does Ctrl-C, ends the
// core's work with it.
class Released {
public:
    Released();

private:
    Interruptible call_;
    Interruptible::Joined joined_{&call_};
    py::gil_scoped_release release_;
};

}  // namespace fasthdmr
