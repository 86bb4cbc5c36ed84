// Long work without the GIL.
#pragma once

#include "pybind.hpp"
#include "support/interruption.hpp"

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

template <class Work>
auto without_gil(const Work& work) {
    const Released released;
    return work();
}

// Where the GIL is held: throws if a signal is to end the call.
void check_signals();

}  // namespace fasthdmr
