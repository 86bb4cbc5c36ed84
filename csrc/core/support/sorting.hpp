// Interruptible sorting: polls between short steps.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/records.hpp"
#include "support/interruption.hpp"

namespace fasthdmr {

template <class T>
void sort_in_steps(std::vector<T>& values) {
    constexpr index piece = 1 << 20;
    const index n = index(values.size());
    const auto at = [&](index k) { return values.begin() + std::min(k, n); };
    for (index begin = 0; begin < n; begin += piece) {
        poll();
        std::sort(at(begin), at(begin + piece));
    }
    for (index width = piece; width < n; width *= 2)
        for (index begin = 0; begin < n; begin += 2 * width) {
            poll();
            std::inplace_merge(at(begin), at(begin + width), at(begin + 2 * width));
        }
}

}  // namespace fasthdmr
