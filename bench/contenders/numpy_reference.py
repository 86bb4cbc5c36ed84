"""The paper's algorithm written down in NumPy: the reference of every error, on one core."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from threadpoolctl import threadpool_limits

from bench.contenders.ours import CHECKED_ROWS
from bench.runner import Arrays, Contender

Subspace = tuple[int, ...]
RANK_TOLERANCE = 1e-12


def features(models: list[Any], X: np.ndarray) -> tuple[list[Subspace], np.ndarray]:
    """Return the labels and columns of B: the sums of a model's trees that split on exactly u (spec 4)."""
    rows = np.ascontiguousarray(X, dtype=np.float32)
    labels: list[Subspace] = []
    columns: list[np.ndarray] = []
    for model in models:
        trees = np.ravel(model.estimators_)
        scale = getattr(model, "learning_rate", 1 / len(trees))
        sums: dict[Subspace, np.ndarray] = {}
        for tree in trees:
            split = tree.tree_.feature
            subspace = tuple(sorted({int(variable) for variable in split[split >= 0]}))
            values = scale * tree.tree_.predict(rows)[:, 0]
            sums[subspace] = sums[subspace] + values if subspace in sums else values
        for subspace in sorted(sums, key=lambda u: (len(u), u)):
            labels.append(subspace)
            columns.append(sums[subspace])
    return labels, np.asarray(columns).T


@dataclass(frozen=True)
class Reference:
    """Everything that a decomposition needs, in the order by |u|; column 0 is the constant."""

    given: np.ndarray  # B in the order of the models
    labels: list[Subspace]
    B: np.ndarray
    A: np.ndarray

    def components(self, coef: np.ndarray) -> tuple[list[Subspace], np.ndarray]:
        """Return the component functions on the rows: A nu = beta, f_u = sum of nu psi."""
        nu = solve_triangular(self.A, np.concatenate([[0.0], coef]), unit_diagonal=True)
        terms = (self.B @ self.A) * nu
        subspaces = sorted(set(self.labels[1:]), key=lambda u: (len(u), u))
        of = np.array([subspaces.index(u) for u in self.labels[1:]])
        sums = [terms[:, 1:][:, of == i].sum(axis=1) for i in range(len(subspaces))]
        return subspaces, np.column_stack(sums)

    def indices(self, components: np.ndarray, coef: np.ndarray) -> np.ndarray:
        """Return the structural and the overall indices, one after the other."""
        output = self.B[:, 1:] @ coef
        centred = components - components.mean(axis=0)
        overall = centred.T @ (output - output.mean()) / len(output)
        return np.concatenate([(centred**2).mean(axis=0), overall]) / output.var()

    def ridge(self, y: np.ndarray, alpha: float) -> np.ndarray:
        """Return the coefficients against y: centred columns and target, the penalty added as rows."""
        F = self.B[:, 1:] - self.B[:, 1:].mean(axis=0)
        penalty = np.sqrt(alpha) * np.eye(F.shape[1])
        target = np.concatenate([y - y.mean(), np.zeros(F.shape[1])])
        return np.linalg.lstsq(np.vstack([F, penalty]), target, rcond=None)[0]


def decompose(models: list[Any], X: np.ndarray) -> Reference:
    """Return B and A: one least squares a column, on the constant and all columns of proper subsets."""
    given, columns = features(models, X)
    # A tree that is a single leaf belongs to the constant.
    order = sorted((c for c, u in enumerate(given) if u), key=lambda c: (len(given[c]), given[c], c))
    labels: list[Subspace] = [(), *(given[c] for c in order)]
    B = np.column_stack([np.ones(len(X)), columns[:, order]])
    norms = np.linalg.norm(B, axis=0)
    unit = B / norms
    A = np.eye(len(labels))
    for column in range(1, len(labels)):
        lower = [v for v, label in enumerate(labels[:column]) if set(label) < set(labels[column])]
        solution = np.linalg.lstsq(unit[:, lower], unit[:, column], rcond=RANK_TOLERANCE)[0]
        A[lower, column] = -solution * norms[column] / norms[lower]
    return Reference(columns, labels, B, A)


def fit(models: list[Any], X: np.ndarray) -> tuple[Reference, np.ndarray, np.ndarray]:
    """Return the decomposition of the sum of the models, with all results of a fit."""
    reference = decompose(models, X)
    coef = np.ones(len(reference.labels) - 1)
    _, components = reference.components(coef)
    return reference, components, reference.indices(components, coef)


def contenders(models: list[Any], X: np.ndarray, y: np.ndarray, alpha: float) -> list[Contender]:
    """Return the reference's rows."""

    def on_one_core(function: Any) -> Any:
        def run(_: Any) -> Any:
            with threadpool_limits(1):
                return function(models, X)

        return run

    def summary(result: Any) -> Arrays:
        reference, components, indices = result
        coef = reference.ridge(y, alpha)
        _, ridge_components = reference.components(coef)
        return {
            "features": reference.given,
            "sum indices": indices,
            "sum components": components[:CHECKED_ROWS],
            "ridge indices": reference.indices(ridge_components, coef),
            "ridge components": ridge_components[:CHECKED_ROWS],
        }

    return [
        Contender("NumPy reference", "fit sum", run=on_one_core(fit), summary=summary),
        Contender("NumPy reference", "features", run=on_one_core(features)),
    ]
