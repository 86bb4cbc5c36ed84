// Counter of the rows that fits have processed since the start of the process, for progress bars.
#pragma once

#include <atomic>

#include "support/arrays.hpp"

namespace fasthdmr {

inline std::atomic<index>& rows_done() {
    static std::atomic<index> count{0};
    return count;
}

}  // namespace fasthdmr
