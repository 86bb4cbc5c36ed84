// Exact variances under the product of the marginals, as sums over pairs of boxes or pairs of trees.
#pragma once

#include <vector>

#include "product_measure/leaf_boxes.hpp"

namespace fasthdmr {

// Limits of about a minute on one thread: pairs of a group of leaves and a subspace of its variables, boxes in memory,
// overlaps of the intervals of two boxes, and visits of nodes for pairs of trees.
struct Limits {
    double subspaces = 4e6, boxes = 1.6e7, overlaps = 6e10, visits = 6e9;
};
constexpr double kOverlapsPerVisit = 10.0;  // overlaps that take as long as one visit

// Throws an error with the count and the remedy.
[[noreturn]] void refuse(double count, double most, const char* what);

// The number of overlaps of intervals that the variance of so many boxes needs.
inline double overlaps_of(double boxes, index order) { return boxes * boxes / 2.0 * double(order); }

// For every list, the variance of the sum over boxes of value * prod(1_j - p_j).
std::vector<double> box_variances(const std::vector<const BoxList*>& lists, const Marginals& marginals, int n_threads);

// The variance of the sum of all trees, and an estimate of the nodes that it visits.
double tree_variance(const ProductTrees& trees, int n_threads);
double estimated_visits(const ProductTrees& trees);

}  // namespace fasthdmr
