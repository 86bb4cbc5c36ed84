"""Oracles for trees: slow, readable, and written against scikit-learn's objects, not against ours.

An ensemble is a list of members (tree, values, outputs): a scikit-learn `Tree`, the value (nodes,
len(outputs)) of each node with every factor multiplied in, and the outputs that these columns add to.
"""

import numpy as np
from sklearn.base import is_classifier, is_regressor


def raw_output(model, X):
    """The model's own raw output, (N,) or (N, K)."""
    if is_regressor(model):
        return model.predict(X)
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    targets = model.predict_proba(X)
    columns = np.hstack([kept_classes(p) for p in (targets if isinstance(targets, list) else [targets])])
    return columns if columns.shape[1] > 1 else columns[:, 0]


def kept_classes(probabilities):
    """Of two classes, the output is the probability of the second."""
    return probabilities[:, 1:] if probabilities.shape[1] == 2 else probabilities


def members(model):
    """The trees of a fitted scikit-learn model; see the module's docstring."""
    if hasattr(model, "tree_"):
        return [averaged_member(model, model.tree_, 1)]
    if isinstance(model.estimators_, list):
        return [averaged_member(model, m.tree_, len(model.estimators_)) for m in model.estimators_]
    return [
        (m.tree_, model.learning_rate * m.tree_.value[:, 0, :], [output])
        for stage in model.estimators_
        for output, m in enumerate(stage)
    ]


def averaged_member(model, tree, n_trees):
    if not is_classifier(model):
        values = tree.value[:, :, 0]
    else:
        n_classes = np.atleast_1d(model.n_classes_)
        values = np.hstack([kept_classes(tree.value[:, o, :n]) for o, n in enumerate(n_classes)])
    return tree, values / n_trees, list(range(values.shape[1]))


def leaf(tree, row):
    """Walk one row down one tree."""
    with np.errstate(over="ignore"):
        row = np.asarray(row).astype(np.float32)
    node = 0
    while tree.children_left[node] != -1:
        x = row[tree.feature[node]]
        left = tree.missing_go_to_left[node] if np.isnan(x) else float(x) <= tree.threshold[node]
        node = tree.children_left[node] if left else tree.children_right[node]
    return node


def leaves(tree, X):
    return np.array([leaf(tree, row) for row in X])


def split_variables(tree):
    """The exact set of variables that a tree splits on, sorted."""
    return tuple(sorted({int(f) for f, left in zip(tree.feature, tree.children_left, strict=True) if left != -1}))


def groups(model):
    """List of (output, subspace, trees), sorted by output, size of the subspace, subspace."""
    found = {}
    for index, (tree, _, outputs) in enumerate(members(model)):
        for output in outputs:
            found.setdefault((output, split_variables(tree)), []).append(index)
    order = sorted(found, key=lambda key: (key[0], len(key[1]), key[1]))
    return [(output, subspace, found[output, subspace]) for output, subspace in order]


def group_features(model, X):
    """(N, number of groups): what the trees of each group add to its output, row by row."""
    ensemble = members(model)
    reached = [leaves(tree, X) for tree, _, _ in ensemble]
    columns = np.zeros((len(X), len(groups(model))))
    for g, (output, _, trees) in enumerate(groups(model)):
        for t in trees:
            _, values, outputs = ensemble[t]
            columns[:, g] += values[reached[t], outputs.index(output)]
    return columns


def node_values(tree, values):
    """(nodes, outputs): leaves keep their value, inner nodes have the mean of their children by training weight."""
    result = np.array(values)
    weight = tree.weighted_n_node_samples
    for node in reversed(range(tree.node_count)):  # children are numbered after their parents
        if tree.children_left[node] != -1:
            children = [tree.children_left[node], tree.children_right[node]]
            usable = weight[children].sum() > 0
            result[node] = np.average(result[children], axis=0, weights=weight[children] if usable else None)
    return result


def node_subspaces(tree, joined=False):
    """For every node the set of variables that the path to it splits on, sorted.

    Joined: a node of two variables has the first subspace of three variables of the tree that contains both, if any.
    """
    subspaces = [()] * tree.node_count
    for node in range(tree.node_count):
        for child in (tree.children_left[node], tree.children_right[node]):
            if child != -1:
                subspaces[child] = tuple(sorted({*subspaces[node], int(tree.feature[node])}))
    if not joined:
        return subspaces
    triples = sorted(u for u in subspaces if len(u) == 3)
    return [next((v for v in triples if set(u) < set(v)), u) if len(u) == 2 else u for u in subspaces]


def some_members(model, trees):
    """All trees, or those of these numbers."""
    return [member for t, member in enumerate(members(model)) if trees is None or t in trees]


def node_groups(model, trees=None, joined=False):
    """List of (output, subspace), sorted by output, size of the subspace, subspace."""
    ensemble = some_members(model, trees)
    found = {(output, u) for tree, _, outputs in ensemble for output in outputs for u in node_subspaces(tree, joined)}
    return sorted(found, key=lambda key: (key[0], len(key[1]), key[1]))


def node_features(model, X, trees=None, joined=False):
    """(N, number of node groups): roots' values, and differences from the parent for all other nodes of a row."""
    place = {group: g for g, group in enumerate(node_groups(model, trees, joined))}
    columns = np.zeros((len(X), len(place)))
    for tree, leaf_values, outputs in some_members(model, trees):
        values, subspaces = node_values(tree, leaf_values), node_subspaces(tree, joined)
        parents = {c: m for m in range(tree.node_count) for c in (tree.children_left[m], tree.children_right[m])}
        for i, node in enumerate(leaves(tree, X)):
            while node != -1:
                terms = values[node] - (values[parents[node]] if node else 0.0)
                columns[i, [place[output, subspaces[node]] for output in outputs]] += terms
                node = parents[node] if node else -1
    return columns


def tree_sum(model, X):
    """(N, K): the sum of the trees by scikit-learn's own `Tree.apply`, which takes infinite values."""
    ensemble = members(model)
    total = np.zeros((len(X), 1 + max(max(outputs) for _, _, outputs in ensemble)))
    with np.errstate(over="ignore"):
        X = np.asarray(X).astype(np.float32)
    for tree, values, outputs in ensemble:
        total[:, outputs] += values[tree.apply(X)]
    return total
