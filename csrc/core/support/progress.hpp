// How many rows the passes of fits have taken in since the process began: for whoever wants to show it.
#pragma once

#include <atomic>

#include "support/arrays.hpp"

namespace fasthdmr {

inline std::atomic<index>& rows_done() {
    static std::atomic<index> count{0};
    return count;
}

}  // namespace fasthdmr
