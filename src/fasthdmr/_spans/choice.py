"""The choice of the spans of a decomposition: candidates, their sizes, and their knots at quantiles of the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from fasthdmr._solve.problem import Problem
from fasthdmr._spans.basis import Basis, closure, default_size, informative_rows, make_basis
from fasthdmr._spans.finer import FEW_ROWS
from fasthdmr._spans.fit import RIDGE
from fasthdmr._spans.kinds import SPANS
from fasthdmr._spans.levels import MAX_COLUMNS
from fasthdmr._spans.pair_strengths import screen_pairs, screened_rows
from fasthdmr._spans.planning import SpanOptions, SpanPlan, Width, fit_levels, fits_jointly, joint_room, plan_spans
from fasthdmr._spans.screening import screen
from fasthdmr._spans.sizes import main_sizes, rows_for_sizes
from fasthdmr._support.groups import columns_of
from fasthdmr._support.subspaces import Subspace
from fasthdmr._support.typing import Floats

Values = Callable[[slice], Floats]
"""Returns the black box at a slice of the rows, (S, K)."""

SpansOfSizes = Callable[[Sequence[Subspace], tuple[int, ...]], Basis]
"""Returns the spans of subspaces, with sizes by order."""


def choose_basis(
    problem: Problem,
    touched: Iterable[Subspace],
    order: int,
    options: SpanOptions,
    values: Values,
    *,
    joint: bool = False,
    finer: Callable[[tuple[int, ...], Callable[[tuple[int, ...]], Basis]], tuple[int, ...]] | None = None,
) -> Basis:
    """Choose the spans of a problem, and construct them.

    Parameters
    ----------
    problem : Problem
    touched : iterable of tuple of int
        The subspaces that the black box depends on, of any order, or that the user chose.
    order : int
        Largest order of a span.
    options : SpanOptions
    values : callable
        Returns the black box at a slice of the rows, (S, K).
    joint : bool
        Whether all columns take part in one joint projection.
    finer : callable or None
        Chooses the sizes of single variables and pairs for few rows. Its arguments are the default sizes and a function
        that returns the basis with given sizes.

    Returns
    -------
    Basis

    Raises
    ------
    ValueError
        If the spans do not fit into memory. The message states the estimate.

    Warns
    -----
    PairsWarning
        If pairs are left out.
    """
    touched, chosen, width = list(touched), problem.kept.interactions, Width(problem.groups)
    n_rows = informative_rows(problem.X, problem.weights)
    strength = partial(_strength_of_pairs, problem, options, values)
    screens = joint and not fits_jointly(touched, n_rows, order, options, chosen=chosen is not None, width=width)
    if screens:
        touched = _screened(problem, order, options, values, strength)
    plan = plan_spans(
        touched,
        n_rows,
        order,
        options,
        joint=joint,
        chosen=chosen is not None or screens,
        strength=strength,
        width=width,
        n_indicators=sum(min(count, MAX_COLUMNS[0]) for count in problem.n_levels.values()),
    )
    if problem.verbose:
        print(f"[fasthdmr] {len(plan.subspaces)} spans, sizes {plan.sizes}")
    make, sizes = _spans_of_sizes(problem, plan, options, values, n_rows, joint=joint), plan.sizes
    if finer is not None and _follows_data(options) and n_rows <= FEW_ROWS:
        low = closure(touched, 2)  # sizes depend on spans up to pairs only, so not on `order`
        rule = tuple(default_size(n_rows, t) for t in range(1, max(map(width, low), default=1) + 1))
        sizes = (*finer(rule, partial(make, low))[:2], *sizes[2:])[: len(sizes)]
    return make(plan.subspaces, sizes)


def _strength_of_pairs(problem: Problem, options: SpanOptions, values: Values, pairs: list[Subspace]) -> Floats:
    rows = screened_rows(len(problem.X))
    return screen_pairs(*problem.part(rows), values(rows), pairs, options.degree, problem.n_levels, problem.groups)


def _screened(
    problem: Problem,
    order: int,
    options: SpanOptions,
    values: Values,
    strength: Callable[[list[Subspace]], Floats],
) -> list[Subspace]:
    """Return the strongest variables and pairs, as many as a joint projection can hold."""
    if problem.groups is not None:
        raise ValueError(
            f"{problem.n_variables:,} variables do not fit into a joint projection, and the strongest are not chosen "
            "among groups. List the `interactions`, or put fewer columns into `feature_groups`."
        )
    rows = screened_rows(len(problem.X))
    return screen(
        *problem.part(rows),
        values(rows),
        order=order,
        chosen=problem.kept.interactions,
        room=joint_room(order, options),
        strength=strength,
        n_levels=problem.n_levels,
    )


def _follows_data(options: SpanOptions) -> bool:
    """Return whether sizes are chosen by cross-validation."""
    return SPANS[options.basis].follows_data and options.n_splines is None


def _spans_of_sizes(
    problem: Problem, plan: SpanPlan, options: SpanOptions, values: Values, n_rows: int, *, joint: bool
) -> SpansOfSizes:
    """Return a function that constructs spans. Variables whose effect oscillates have more splines than the rule."""
    X, weights, n_levels = problem.X, problem.weights, problem.n_levels
    spanned = [columns_of(problem.groups, u) for u in plan.subspaces]
    max_levels = fit_levels(spanned, plan.sizes, n_levels, n_rows, joint=joint)
    degree = SPANS[options.basis].degree(options.degree)
    main: dict[int, int] = {}
    if _follows_data(options):
        rows, single = rows_for_sizes(len(X)), [u[0] for u in spanned if len(u) == 1]  # groups keep their sizes
        main = main_sizes(
            *problem.part(rows), values(rows), single, plan.sizes[0], degree, RIDGE, n_levels, problem.n_threads
        )

    def make(subspaces: Sequence[Subspace], sizes: tuple[int, ...]) -> Basis:
        return make_basis(
            X,
            weights,
            subspaces,
            sizes,
            degree=degree,
            main_sizes={j: size for j, size in main.items() if size > sizes[0]},
            n_levels=n_levels,
            max_levels=max_levels,
            groups=problem.groups,
            n_threads=problem.n_threads,
        )

    return make
