"""Trees behind the transformers of a pipeline, each of whose outputs is a function of one column of X."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr._forest.front import Front
from fasthdmr.loaders.sources import count_of_inputs, sources_of_steps
from fasthdmr.loaders.trees import Trees


def behind_steps(steps: Sequence[tuple[str, Any]], trees: Trees) -> Trees:
    """Return trees behind the fitted transformers of a pipeline, as functions of the columns of its X.

    Parameters
    ----------
    steps : sequence of (str, transformer)
        At least one; none is "passthrough".
    trees : Trees
        In terms of what the last transformer returns. They may have a front of their own.

    Raises
    ------
    ValueError
        If a transformer computes outputs from several columns, or is not known.
    """
    n_features = count_of_inputs(*steps[0])
    n_read = trees.n_features if trees.front is None else trees.front.n_features
    sources = sources_of_steps(steps, n_features, n_read)
    transformers = copy.deepcopy(tuple(step for _, step in steps))  # the pipeline may be fitted again
    if trees.front is None:
        used = np.unique(trees.feature[trees.left >= 0])
        used = used if len(used) else np.zeros(1, dtype=np.int64)  # a forest has at least one column
        inner = Front.of_rows(n_read, trees.reading, used)
        trees = _in_columns(trees, used)
    else:
        inner = trees.front
    names = getattr(steps[0][1], "feature_names_in_", None)
    return replace(
        trees.behind(inner.after(transformers, sources, n_features)),
        feature_names=None if names is None else tuple(map(str, names)),
    )


def _in_columns(trees: Trees, used: NDArray[np.int64]) -> Trees:
    """Return trees in terms of these columns only, which include all that they split on."""
    feature = np.where(trees.left >= 0, np.searchsorted(used, trees.feature), 0)
    replaced = None if trees.replaced is None else trees.replaced[used]
    return replace(trees, n_features=len(used), feature=feature, replaced=replaced)


def behind_one_front(members: Sequence[Trees]) -> Sequence[Trees]:
    """Return members with a common front, which returns what all of them read, side by side.

    Raises
    ------
    ValueError
        If the members are functions of different numbers of columns.
    """
    if all(member.front is members[0].front for member in members):
        return members
    known: dict[Any, Front] = {}  # trees without a front read X itself, in one or several ways
    fronts = [
        known.setdefault(
            m.reading if m.front is None else id(m.front), m.front or Front.of_rows(m.n_features, m.reading)
        )
        for m in members
    ]
    distinct = list({id(front): front for front in fronts}.values())
    if len({front.n_features for front in distinct}) > 1:
        counts = sorted({front.n_features for front in distinct})
        raise ValueError(f"The models are functions of different numbers of columns: {counts}.")
    joined = Front(
        tuple(steps for front in distinct for steps in front.steps),
        tuple(source for front in distinct for source in front.sources),
        distinct[0].n_features,
    )
    starts = np.cumsum([0, *(len(front.sources) for front in distinct)])
    first = {id(front): int(start) for front, start in zip(distinct, starts, strict=False)}
    return [
        member.behind(joined, first[id(front)] + np.arange(len(front.sources)))
        for member, front in zip(members, fronts, strict=True)
    ]
