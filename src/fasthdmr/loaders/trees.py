"""The result of every loader: the flat arrays of an ensemble, which are passed to C++."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr import _core
from fasthdmr._forest.forest import Forest

_NO_SETS = np.empty(0, dtype=np.int64)
_NOTHING = (1.0, 0.0, 0.0)  # a row of `replaced` from 1 to 0: no value lies between


@dataclass(frozen=True, eq=False)
class Trees:
    """The arrays of `fasthdmr._core.Forest`, and what only Python uses.

    Indices of children count from the first node of the tree. `value` includes learning rates and averaging.
    """

    n_features: int
    tree_offsets: NDArray[np.int64]  # (T + 1,)
    left: NDArray[np.int64]  # (M,), -1 at leaves
    right: NDArray[np.int64]  # (M,)
    feature: NDArray[np.int64]  # (M,)
    threshold: NDArray[np.float64]  # (M,)
    missing_left: NDArray[np.uint8]  # (M,)
    value: NDArray[np.float64]  # (M, 1) or (M, n_outputs)
    tree_output: NDArray[np.int64]  # (T,)
    offset: NDArray[np.float64]  # (n_outputs,)
    weight: NDArray[np.float64]  # (M,), of the training rows in each node
    impurity: Callable[[], NDArray[np.float64]] | None = None  # (M,), if the model stores it; read on demand
    allow_nan: bool = False
    feature_names: tuple[str, ...] | None = None
    output_names: tuple[str, ...] | None = None
    is_classifier: bool = False
    float64: bool = False  # whether x is compared with thresholds in float64, rather than cast to float32
    replaced: NDArray[np.float64] | None = None  # (n_features, 3): values from, to, and what they count as
    # Splits by categories: a set is a union of closed intervals of values, as many as the category has.
    category_set: NDArray[np.int64] | None = None  # (M,), the set whose values go left, all others going right; or -1
    set_offsets: NDArray[np.int64] | None = None  # (S + 1,), where the intervals of each set begin
    set_intervals: NDArray[np.float64] | None = None  # (number of intervals, 2): values from, to
    takes_codes: bool = False  # whether columns of categories hold codes of the library's own
    levels: tuple[tuple[Any, ...], ...] | None = None  # of the columns of dtype category that it was trained with
    refuses_unseen: bool = False  # whether other levels are an error, or else missing
    is_margin: bool = False  # whether the model predicts a function of the sum, and has no method for the sum itself

    @classmethod
    def of(cls, forest: Forest) -> Trees:
        """Return the arrays of a forest; the value of an inner node is the mean of its children."""
        _, n_features, _, *arrays, (_, thresholds, replaced, _, cuts), category_set = forest.core.__getstate__()
        tree_offsets, left, right, feature, threshold, missing_left, value, tree_output, offset, weight = arrays
        return cls(
            n_features,
            tree_offsets,
            left,
            right,
            feature,
            threshold,
            missing_left,
            value,
            tree_output,
            offset,
            weight,
            allow_nan=forest.allow_nan,
            feature_names=forest.feature_names,
            output_names=forest.output_names,
            is_classifier=forest.is_classifier,
            float64=bool(thresholds),
            replaced=replaced if len(replaced) else None,
            takes_codes=forest.takes_codes,
            levels=forest.levels,
            refuses_unseen=forest.refuses_unseen,
            **_sets_of(category_set, cuts),
        )

    def scaled(self, weight: float | NDArray[np.float64]) -> Trees:
        """Return the ensemble whose output is multiplied by `weight`: one number, or one an output."""
        weights = np.broadcast_to(weight, self.offset.shape)
        by_node = weights[np.repeat(self.tree_output, np.diff(self.tree_offsets))][:, None]
        value = self.value * (weights if self.value.shape[1] > 1 else by_node)
        return replace(self, value=value, offset=self.offset * weights)

    def shifted(self, by: NDArray[np.float64]) -> Trees:
        """Return the ensemble to whose outputs constants are added."""
        return replace(self, offset=self.offset + by)

    def of_columns(self, columns: NDArray[np.int64], n_features: int) -> Trees:
        """Return the ensemble as a function of rows of which it has seen some columns."""
        replaced = self.replaced
        if replaced is not None:
            replaced = np.tile(_NOTHING, (n_features, 1))
            replaced[columns] = self.replaced
        feature = np.where(self.left == -1, 0, columns[np.where(self.left == -1, 0, self.feature)])
        return replace(self, feature=feature, n_features=n_features, replaced=replaced)

    def forest(self) -> Forest:
        """Pass the arrays to C++."""
        if self.category_set is not None and not self.float64:
            return self._in_float64().forest()
        comparison, category_set = self._comparison()
        core = _core.Forest(
            n_features=self.n_features,
            n_outputs=self.offset.size,
            tree_offsets=self.tree_offsets,
            left=self.left,
            right=self.right,
            feature=self.feature,
            threshold=self.threshold,
            missing_left=self.missing_left,
            value=self.value,
            tree_output=self.tree_output,
            offset=self.offset,
            weight=self.weight,
            comparison=comparison,
            set=category_set,
        )
        return Forest(
            core,
            allow_nan=self.allow_nan,
            feature_names=self.feature_names,
            output_names=self.output_names,
            is_classifier=self.is_classifier,
            takes_codes=self.takes_codes,
            levels=self.levels,
            refuses_unseen=self.refuses_unseen,
        )

    def _comparison(self) -> tuple[_core.Comparison | None, NDArray[np.int64] | None]:
        """Return how values are compared, and the numbers of the sets there."""
        if not self.float64:
            return None if self.replaced is None else (self.n_features, [], self.replaced, _NO_SETS, []), None
        replaced = np.tile(_NOTHING, (self.n_features, 1)) if self.replaced is None else self.replaced
        return _core.float64_comparison(
            self.left,
            self.right,
            self.feature,
            self.threshold,
            replaced,
            _numbers(self),
            np.zeros(1, dtype=np.int64) if self.set_offsets is None else self.set_offsets,
            np.empty((0, 2)) if self.set_intervals is None else self.set_intervals,
        )

    def _in_float64(self) -> Trees:
        """Return the ensemble as one that compares in float64: columns of sets need the places of all cuts."""
        assert self.set_intervals is not None
        ends = [_core.float32_intervals(of.copy())[:, k] for k, of in enumerate(self.set_intervals.T)]
        return replace(
            self,
            float64=True,
            threshold=_core.float64_thresholds(self.threshold),
            set_intervals=np.column_stack(ends),
        )


def compared_alike(forests: Sequence[Forest]) -> list[Forest]:
    """Return the forests with one comparison of values for all, as they are if they have.

    Raises
    ------
    ValueError
        If there is none, because some take values for missing ones that others do not.
    """
    cores = _core.compared_alike([forest.core for forest in forests])
    return [
        forest if core is forest.core else replace(forest, core=core)
        for forest, core in zip(forests, cores, strict=True)
    ]


def numbered(count: int, prefix: str = "") -> tuple[str, ...]:
    """Return the names of that many things without names.

    Examples
    --------
    >>> numbered(3, "y")
    ('y0', 'y1', 'y2')
    """
    return tuple(f"{prefix}{k}" for k in range(count))


def first_trees(arrays: dict[str, Any], count: int) -> dict[str, Any]:
    """Return the arrays of the first trees."""
    n_nodes = int(arrays["tree_offsets"][count])
    first = {"tree_offsets": count + 1, "set_offsets": None, "set_intervals": None}
    return {name: array[: first.get(name, n_nodes)] for name, array in arrays.items()}


def _sets_of(category_set: NDArray[np.int64], cuts: list[NDArray[np.float64]]) -> dict[str, Any]:
    """Return the sets of categories, if there are any, from their cuts."""
    if not cuts:
        return {}
    low, high = np.concatenate(cuts).reshape(-1, 2).T
    return {
        "category_set": category_set,
        "set_offsets": np.cumsum([0, *(len(of) // 2 for of in cuts)], dtype=np.int64),
        "set_intervals": np.column_stack([np.nextafter(low, np.inf), high]),
    }


def _one_rule(members: Sequence[Trees]) -> Sequence[Trees]:
    """Return members that compare values in one way."""
    plain = not any(m.float64 or m.replaced is not None or m.category_set is not None for m in members)
    if plain or len(members) == 1:
        return members
    alike = compared_alike([member.forest() for member in members])
    return [replace(Trees.of(one), is_margin=member.is_margin) for one, member in zip(alike, members, strict=True)]


def add(members: Sequence[Trees]) -> Trees:
    """Return the one ensemble whose outputs are the sums of those of the members, which have as many each."""
    members = _one_rule(members)
    return replace(
        _end_to_end(members, [m.value for m in members], [m.tree_output for m in members]),
        offset=np.sum([m.offset for m in members], axis=0),
        output_names=members[0].output_names,
        is_classifier=members[0].is_classifier,
    )


def side_by_side(members: Sequence[Trees], output_names: tuple[str, ...]) -> Trees:
    """Return the one ensemble whose outputs are those of the members, one after the other."""
    members = _one_rule(members)
    first = np.cumsum([0, *(m.offset.size for m in members)])
    values = [m.value for m in members]
    if any(value.shape[1] > 1 for value in values):  # a column for every output then, with zeros for all others
        values = [_in_columns(m, int(start), int(first[-1])) for m, start in zip(members, first, strict=False)]
    tree_output = [m.tree_output + start for m, start in zip(members, first, strict=False)]
    return replace(
        _end_to_end(members, values, tree_output),
        offset=np.concatenate([m.offset for m in members]),
        output_names=output_names if len(output_names) > 1 else None,
        is_classifier=members[0].is_classifier,
    )


def _in_columns(member: Trees, start: int, count: int) -> NDArray[np.float64]:
    """Return leaf values in columns of their own among those of all outputs."""
    value = np.zeros((len(member.value), count))
    if member.value.shape[1] > 1:
        value[:, start : start + member.value.shape[1]] = member.value
    else:
        column = np.repeat(member.tree_output, np.diff(member.tree_offsets))
        value[np.arange(len(value)), start + column] = member.value[:, 0]
    return value


def _end_to_end(
    members: Sequence[Trees], values: Sequence[NDArray[np.float64]], tree_output: Sequence[NDArray[np.int64]]
) -> Trees:
    """Return all trees, with these leaf values and outputs."""
    first_nodes = np.cumsum([0, *(member.left.size for member in members)])
    offsets = [m.tree_offsets[1:] + start for m, start in zip(members, first_nodes, strict=False)]
    return Trees(
        n_features=members[0].n_features,
        tree_offsets=np.concatenate([[0], *offsets]).astype(np.int64, copy=False),
        left=np.concatenate([m.left for m in members]),
        right=np.concatenate([m.right for m in members]),
        feature=np.concatenate([m.feature for m in members]),
        threshold=np.concatenate([m.threshold for m in members]),
        missing_left=np.concatenate([m.missing_left for m in members]),
        value=np.concatenate(values),
        tree_output=np.concatenate(tree_output),
        offset=members[0].offset,
        weight=np.concatenate([m.weight for m in members]),
        impurity=_joined([m.impurity for m in members]),
        allow_nan=all(m.allow_nan for m in members),
        feature_names=next((m.feature_names for m in members if m.feature_names is not None), None),
        float64=members[0].float64,
        replaced=members[0].replaced,
        category_set=None if members[0].category_set is None else np.concatenate([_numbers(m) for m in members]),
        set_offsets=members[0].set_offsets,
        set_intervals=members[0].set_intervals,
        takes_codes=any(m.takes_codes for m in members),
        levels=_same_levels([m for m in members if m.takes_codes]),
        refuses_unseen=any(m.refuses_unseen for m in members),
        is_margin=any(m.is_margin for m in members),
    )


def _same_levels(members: Sequence[Trees]) -> tuple[tuple[Any, ...], ...] | None:
    """Return the levels of categories; where models differ, frames with such columns are refused."""
    return members[0].levels if len({m.levels for m in members}) == 1 else None


def _numbers(member: Trees) -> NDArray[np.int64]:
    return np.full_like(member.left, -1) if member.category_set is None else member.category_set


def _joined(parts: Sequence[Callable[[], NDArray[np.float64]] | None]) -> Callable[[], NDArray[np.float64]] | None:
    known = [part for part in parts if part is not None]
    return (lambda: np.concatenate([part() for part in known])) if len(known) == len(parts) else None
