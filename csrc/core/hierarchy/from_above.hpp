// The order of a top-down pass (spec 3), whatever the inner product: of a triangle, or of Gram blocks of spans.
#pragma once

#include "support/parallel.hpp"

namespace fasthdmr {

// Calls purify(s) and hand_down(s) for all subspaces, sorted by order, those of the highest order first. Subspaces of
// one order do not see each other, so they are purified in parallel; what they hand down is added in their own order,
// so that sums do not depend on threads.
template <class OrderOf, class Purify, class HandDown>
void from_above(index n_subspaces, int n_threads, const OrderOf& order_of, const Purify& purify,
                const HandDown& hand_down) {
    for (index end = n_subspaces; end > 0;) {
        index begin = end;
        while (begin > 0 && order_of(begin - 1) == order_of(end - 1)) --begin;
        parallel_for(end - begin, n_threads, [&](index k) { purify(begin + k); });
        for (index s = begin; s < end; ++s) hand_down(s);
        end = begin;
    }
}

}  // namespace fasthdmr
