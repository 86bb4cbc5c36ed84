"""Several sums of trees as one: for means and votes of models, and for models of several targets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr import _core
from fasthdmr._forest.forest import Forest
from fasthdmr._forest.text_levels import Levels as TextLevels
from fasthdmr.loaders.fronts import behind_one_front
from fasthdmr.loaders.trees import Trees


def compared_alike(forests: Sequence[Forest]) -> list[Forest]:
    """Return the forests with a common comparison rule; those that already have it are returned as they are.

    Models behind different transformers get a common front first, which returns the outputs of all.

    Raises
    ------
    ValueError
        If there is no common rule, because some treat values as missing that others do not.
    """
    if any(forest.front is not forests[0].front for forest in forests):
        forests = [member.forest() for member in behind_one_front([Trees.of(forest) for forest in forests])]
    cores = _core.compared_alike([forest.core for forest in forests])
    return [
        forest if core is forest.core else replace(forest, core=core)
        for forest, core in zip(forests, cores, strict=True)
    ]


def _one_rule(members: Sequence[Trees]) -> Sequence[Trees]:
    """Return the members with a common comparison rule and front."""
    members = behind_one_front(members)
    plain = not any(m.float64 or m.replaced is not None or m.category_set is not None for m in members)
    if plain or len(members) == 1:
        return members
    alike = compared_alike([member.forest() for member in members])
    return [replace(Trees.of(one), is_margin=member.is_margin) for one, member in zip(alike, members, strict=True)]


def add(members: Sequence[Trees]) -> Trees:
    """Return the sum of members that have the same number of outputs."""
    members = _one_rule(members)
    return replace(
        _end_to_end(
            members,
            [m.value for m in members],
            [m.tree_output for m in members],
            np.sum([m.offset for m in members], axis=0),
        ),
        output_names=members[0].output_names,
        is_classifier=members[0].is_classifier,
    )


def side_by_side(members: Sequence[Trees], output_names: tuple[str, ...]) -> Trees:
    """Return one sum of trees with the outputs of all members, one after the other."""
    members = _one_rule(members)
    first = np.cumsum([0, *(m.offset.size for m in members)])
    values = [m.value for m in members]
    if any(value.shape[1] > 1 for value in values):  # then leaves need a value for every output
        values = [_in_columns(m, int(start), int(first[-1])) for m, start in zip(members, first, strict=False)]
    tree_output = [m.tree_output + start for m, start in zip(members, first, strict=False)]
    return replace(
        _end_to_end(members, values, tree_output, np.concatenate([m.offset for m in members])),
        output_names=output_names if len(output_names) > 1 else None,
        is_classifier=members[0].is_classifier,
    )


def _in_columns(member: Trees, start: int, count: int) -> NDArray[np.float64]:
    """Return leaf values with a column for every output, zero in the columns of other members."""
    value = np.zeros((len(member.value), count))
    if member.value.shape[1] > 1:
        value[:, start : start + member.value.shape[1]] = member.value
    else:
        column = np.repeat(member.tree_output, np.diff(member.tree_offsets))
        value[np.arange(len(value)), start + column] = member.value[:, 0]
    return value


def _end_to_end(
    members: Sequence[Trees],
    values: Sequence[NDArray[np.float64]],
    tree_output: Sequence[NDArray[np.int64]],
    offset: NDArray[np.float64],
) -> Trees:
    """Concatenate the trees of all members, with these leaf values, outputs and constants."""
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
        offset=offset,
        weight=np.concatenate([m.weight for m in members]),
        impurity=_joined([m.impurity for m in members]),
        allow_nan=all(m.allow_nan for m in members),
        feature_names=next((m.feature_names for m in members if m.feature_names is not None), None),
        float64=members[0].float64,
        replaced=members[0].replaced,
        category_set=None if members[0].category_set is None else np.concatenate([m.set_of_nodes() for m in members]),
        set_offsets=members[0].set_offsets,
        set_intervals=members[0].set_intervals,
        takes_codes=any(m.takes_codes for m in members),
        levels=_same_levels([m for m in members if m.takes_codes]),
        refuses_unseen=any(m.refuses_unseen for m in members),
        absent=members[0].absent if len({str(m.absent) for m in members}) == 1 else None,
        text_levels=_same_text_levels(members),
        hashes_text=members[0].hashes_text,
        front=members[0].front,
        unit=members[0].unit if len({m.unit for m in members}) == 1 else "",
        is_margin=any(m.is_margin for m in members),
    )


def _same_levels(members: Sequence[Trees]) -> tuple[tuple[Any, ...], ...] | None:
    """Return the levels of categories if all members have the same; else None, and such frames are refused."""
    return members[0].levels if len({m.levels for m in members}) == 1 else None


def _same_text_levels(members: Sequence[Trees]) -> TextLevels:
    if len({(m.text_levels, m.hashes_text) for m in members}) > 1:
        raise ValueError("They know different levels of text columns, as of subsets of the rows.")
    return members[0].text_levels


def _joined(parts: Sequence[Callable[[], NDArray[np.float64]] | None]) -> Callable[[], NDArray[np.float64]] | None:
    known = [part for part in parts if part is not None]
    return (lambda: np.concatenate([part() for part in known])) if len(known) == len(parts) else None
