// Exact variances under the product of the marginals, from pairs of boxes or of trees.
#pragma once

#include <vector>

#include "product_measure/leaf_boxes.hpp"

namespace fasthdmr {

// Limits, about a minute of one thread: pairs of a group of leaves and a subspace of its variables, boxes in memory,
// sides of pairs of boxes, and nodes visited for pairs of trees.
struct Limits {
    double subspaces = 4e6, boxes = 1.6e7, sides = 6e10, visits = 6e9;
};
constexpr double kSidesAVisit = 10.0;  // that take as long as a visit

// Refuses, with the count and the remedy.
[[noreturn]] void refuse(double count, double most, const char* what);

// Sides of pairs that the variance of so many boxes takes.
inline double sides_of_pairs(double boxes, index order) { return boxes * boxes / 2.0 * double(order); }

// Of the sum over boxes of value * prod(1_j - p_j), for every list.
std::vector<double> box_variances(const std::vector<const BoxList*>& lists, const Marginals& marginals, int n_threads);

// Of the sum of all trees. They meet in about so many nodes.
double tree_variance(const ProductTrees& trees, int n_threads);
double estimated_visits(const ProductTrees& trees);

}  // namespace fasthdmr
