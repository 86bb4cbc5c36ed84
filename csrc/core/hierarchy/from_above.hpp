// The order of a top-down pass over the subspaces. It is shared by both inner products: that of an R factor
// (hierarchy.hpp), and that of Gram blocks of splines (spans/span_hierarchy.hpp).
#pragma once

#include "support/parallel.hpp"

namespace fasthdmr {

// Calls project(s) and then add_to_lower(s) for all subspaces s, which are sorted by order, from the highest order to
// the lowest. project(s) computes the projection of the term of s on its proper subsets. It must not read terms of the
// same order: these are projected in parallel. add_to_lower(s) adds the projection to the terms of the subsets; these
// calls are made one after the other, so that sums do not depend on the number of threads.
template <class OrderOf, class Project, class AddToLower>
void from_above(index n_subspaces, int n_threads, const OrderOf& order_of, const Project& project,
                const AddToLower& add_to_lower) {
    for (index end = n_subspaces; end > 0;) {
        index begin = end;
        while (begin > 0 && order_of(begin - 1) == order_of(end - 1)) --begin;
        parallel_for(end - begin, n_threads, [&](index k) { project(begin + k); });
        for (index s = begin; s < end; ++s) add_to_lower(s);
        end = begin;
    }
}

}  // namespace fasthdmr
