// Release of the GIL during long work.
#pragma once

#include "pybind.hpp"
#include "support/interruption.hpp"

namespace fasthdmr {

// Releases the GIL for its lifetime. If Python handles a signal with an exception, as it does for Ctrl-C, the work of
// the core ends with this exception.
class Released {
public:
    Released();

private:
    Interruptible call_;
    Interruptible::Scope scope_{&call_};
    py::gil_scoped_release release_;
};

template <class Work>
auto without_gil(const Work& work) {
    const Released released;
    return work();
}

// Throws if a signal is to end the call. The caller must hold the GIL.
void check_signals();

}  // namespace fasthdmr
