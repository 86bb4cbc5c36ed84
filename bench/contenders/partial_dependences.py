"""Partial dependence on the grids of `bench.problems.pdp`: ours, scikit-learn's two methods, WoodelfExplainer."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from scipy.stats.mstats import mquantiles

from bench.runner import Arrays, Contender, quietly, threads

Sets = list[tuple[int, ...]]
Grid = dict[int, np.ndarray]
PLACES = (1 / 3, 2 / 3)  # of the points that are compared, along an axis


def singles_and_pairs(X: np.ndarray) -> tuple[Sets, Sets]:
    variables = range(X.shape[1])
    return [(j,) for j in variables], list(combinations(variables, 2))


def grid_of(X: np.ndarray, resolution: int) -> Grid:
    """Return equally spaced values between the percentiles 5 and 95 of every variable."""
    return {j: np.linspace(*mquantiles(x, [0.05, 0.95]), resolution) for j, x in enumerate(X.T)}


def places(u: tuple[int, ...], resolution: int) -> list[tuple[int, ...]]:
    """Return the points of a set's grid that are compared: two."""
    first, second = (int(resolution * share) for share in PLACES)
    return [(first,), (second,)] if len(u) == 1 else [(first, second), (second, second)]


def blocks(X: np.ndarray, resolutions: tuple[int, int]) -> Iterator[tuple[Sets, int, Grid]]:
    for sets, resolution in zip(singles_and_pairs(X), resolutions, strict=True):
        yield sets, resolution, grid_of(X, resolution)


def compared(averages: list[np.ndarray], X: np.ndarray, resolutions: tuple[int, int]) -> Arrays:
    """Return the values of full grids, (1, *resolutions) for every set, at the compared points."""
    found = iter(averages)
    points = [
        average[(0, *point)]
        for sets, resolution, _ in blocks(X, resolutions)
        for u, average in zip(sets, found, strict=False)
        for point in places(u, resolution)
    ]
    return {"average": np.array(points)}


def ours(model: Any, X: np.ndarray, resolutions: tuple[int, int], *, n_jobs: int) -> Contender:
    """Return ours, from the model on: its trees are read in every run."""
    from fasthdmr.inspection import partial_dependences

    def run(_: Any) -> list[np.ndarray]:
        return [
            result.average
            for sets, _, grid in blocks(X, resolutions)
            for result in partial_dependences(model, X, sets, custom_values=grid, n_jobs=n_jobs)
        ]

    return Contender(f"ours, {threads(n_jobs)}", "pdp", run, summary=lambda found: compared(found, X, resolutions))


def brute(model: Any, X: np.ndarray, resolutions: tuple[int, int], *, limit: float) -> Contender:
    """Return scikit-learn's brute force at the compared points, with all rows."""
    from sklearn.inspection import partial_dependence

    def run(_: Any) -> Arrays:
        found = []
        for sets, resolution, grid in blocks(X, resolutions):
            for u in sets:
                chosen = np.array(places(u, resolution))
                values = {j: np.unique(grid[j][chosen[:, axis]]) for axis, j in enumerate(u)}
                found.append(partial_dependence(model, X, u, method="brute", custom_values=values)["average"].ravel())
        return {"average": np.concatenate(found)}

    return Contender("scikit-learn, brute", "pdp", run, summary=lambda found: found, limit=limit)


def recursion(model: Any, X: np.ndarray, resolutions: tuple[int, int], *, limit: float) -> Contender:
    """Return scikit-learn's average over paths instead of rows, another quantity: it is not compared."""
    from sklearn.inspection import partial_dependence

    def run(_: Any) -> None:
        for sets, _, grid in blocks(X, resolutions):
            for u in sets:
                partial_dependence(model, X, u, method="recursion", custom_values={j: grid[j] for j in u})

    return Contender("scikit-learn, recursion", "pdp", run, limit=limit)


def woodelf(model: Any, X: np.ndarray, resolutions: tuple[int, int], *, limit: float) -> Contender:
    """Return WoodelfExplainer's partial dependence, which has the same grids."""
    names = [f"x{j}" for j in range(X.shape[1])]

    def prepare() -> Any:
        import pandas as pd
        import woodelf.pdp

        return woodelf.pdp, pd.DataFrame(X, columns=names)

    def run(prepared: Any) -> list[np.ndarray]:
        package, frame = prepared
        singles, pairs = singles_and_pairs(X)
        curves, _ = package.woodelf_pdp(model, frame, k=resolutions[0], centered=False, verbose=False)
        surfaces, first, _ = package.woodelf_pdp_joint(model, frame, k=resolutions[1], verbose=False)
        found = [curves[names[j]][None] for (j,) in singles]
        for u in pairs:
            pair = tuple(names[j] for j in u)
            surface = np.reshape(surfaces[pair], (resolutions[1],) * 2)
            varies_in_rows = np.ptp(np.reshape(first[pair], surface.shape)[0]) > 0
            found.append((surface.T if varies_in_rows else surface)[None])
        return found

    summary = quietly(lambda found: compared(found, X, resolutions))
    return Contender("woodelf", "pdp", quietly(run), quietly(prepare), summary, limit)
