"""Spans of categorical variables: indicators of levels, contingency tables, and a curve for each level."""

import numpy as np
import pytest
from reference import purification
from scipy.sparse import issparse
from sklearn.ensemble import GradientBoostingRegressor
from tolerance import assert_close

import fasthdmr
from fasthdmr import HDMR, TreeHDMR
from fasthdmr._results.decomposition import assemble
from fasthdmr._solve.problem import Kept, Problem
from fasthdmr._spans import fit, levels, planning
from fasthdmr._spans.of_values import ValuesInSpans
from fasthdmr._spans.planning import SpanOptions
from fasthdmr._uncertainty import blocks

RNG = np.random.default_rng(0)
OPTIONS = SpanOptions("spline", 3)


def decompose(X, y, n_levels, weights=None, order=2, options=OPTIONS):
    """Return the dictionary and the solution of the values `y`."""
    problem = Problem(np.asfortranarray(X, dtype=float), weights, Kept(order), n_levels=n_levels)
    dictionary, solutions = ValuesInSpans(None, np.asarray(y, dtype=float), options).solve(problem)
    return dictionary, solutions[0]


def components(dictionary, solution, X):
    """Return the components at rows, by subspace."""
    X = np.asfortranarray(X, dtype=float)
    values = dictionary.evaluate(X, 0, solution.weights, 1)
    for c, moved, change in dictionary.changes(X, 0, solution.weights, solution.subspaces):
        values[moved, c] += change
    return dict(zip(solution.subspaces, values.T, strict=True))


@pytest.fixture
def without_ridge(monkeypatch):
    """Make the ridge so small that its bias is below 1e-10."""
    for module in (fit, planning):
        monkeypatch.setattr(module, "RIDGE", 1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_contingency_table_is_purified(weighted, without_ridge):
    table = RNG.normal(size=(6, 4))
    codes = np.column_stack([RNG.integers(0, 6, 500), RNG.integers(0, 4, 500)])
    weights = RNG.uniform(0, 2, 500) if weighted else None
    mass = np.zeros(table.shape)
    np.add.at(mass, tuple(codes.T), 1.0 if weights is None else weights)
    constant, rows, columns, rest = purification.purify(table, mass)
    found = decompose(codes, table[tuple(codes.T)], {0: 6, 1: 4}, weights)
    assert_close(found[1].constant, constant, 1e-10)
    values = components(*found, codes)
    assert_close(values[0,], rows[codes[:, 0]], 1e-10)
    assert_close(values[1,], columns[codes[:, 1]], 1e-10)
    assert_close(values[0, 1], rest[tuple(codes.T)], 1e-10)


def test_components_are_0_at_unknown_levels():
    X = np.column_stack([RNG.integers(0, 3, 400), RNG.integers(0, 4, 400), RNG.normal(size=400)])
    found = decompose(X, X[:, 2] * (X[:, 0] == 1) + X[:, 1] * (X[:, 0] == 2) + X[:, 2] ** 2, {0: 3, 1: 4}, order=3)
    unknown = X.copy()
    unknown[:200, 0], unknown[100:300, 1] = 3, 9
    values, known = components(*found, unknown), components(*found, X)
    for u, value in values.items():
        is_unknown = ((unknown[:, 0] == 3) & (0 in u)) | ((unknown[:, 1] == 9) & (1 in u))
        assert not value[is_unknown].any()
        assert_close(value[~is_unknown], known[u][~is_unknown], 1e-12)


def test_levels_are_not_replaced_where_there_are_no_rows():
    """A curve is moved to the nearest rows of its level; the interaction of an empty cell of a table is 0."""
    X = np.column_stack([np.repeat([0, 1, 2], 200), RNG.uniform(0, 1, 600), RNG.integers(0, 2, 600)])
    X[:200, 1] = X[:200, 1] / 4  # level 0 has values below .25, level 1 has no rows in level 0 of the third variable
    X[200:400, 2] = 1
    found = decompose(X, X[:, 1] * (X[:, 0] == 0) + X[:, 2] * (X[:, 0] == 2), {0: 3, 2: 2})
    last = X[:200, 1].max()
    at = components(*found, [[0, last, 0], [0, 0.9, 0], [0, 0.6, 1], [1, 0.5, 0], [1, 0.5, 1]])
    highest = found[0].support._cells[1].breaks
    edge = highest[np.searchsorted(highest, last, side="right")]
    edge = components(*found, [[0, np.nextafter(edge, 0), 0]])[0, 1]
    assert_close(at[0, 1][1:3], np.repeat(edge, 2), 1e-9)
    assert at[0, 2][3] == 0 and at[0, 2][4] != 0


def test_merged_levels_are_named_once(monkeypatch):
    """Spans of pairs that would be too large merge the rarest levels; those of single variables keep all."""
    monkeypatch.setattr(levels, "MAX_COLUMNS", (2000, 30))
    X = np.column_stack([np.minimum(RNG.geometric(0.2, 900) - 1, 11), RNG.normal(size=900)])
    y = X[:, 0] % 3 + X[:, 1] * (X[:, 0] == 0)
    found = decompose(X, y, {0: 12})
    basis = found[0].basis
    assert basis.sizes[0] == 12 and basis.sizes[2] <= 30
    with pytest.warns(fasthdmr.LevelsWarning) as record:
        assemble(found[0], [found[1]], Kept(2), feature_names=("city", "x"), output_names=None)
    n_merged = 12 - basis.sizes[2] // 5 + 1
    assert len(record) == 1 and f"the {n_merged} rarest of 12 levels of city in spans of pairs" in str(
        record[0].message
    )


@pytest.mark.parametrize("kind", ["values", "trees"])
def test_intervals_do_not_depend_on_sparse_columns(kind, monkeypatch):
    X = np.column_stack([RNG.integers(0, 6, 500), RNG.integers(0, 3, 500), RNG.normal(size=500)]).astype(float)
    y = (X[:, 0] == 1) * X[:, 2] + (X[:, 1] == 2) * (X[:, 0] == 2) + 0.3 * RNG.normal(size=500)
    model = GradientBoostingRegressor(random_state=0).fit(X, y)

    def intervals():
        if kind == "trees":
            hdmr = TreeHDMR(model, categorical_features=[0, 1]).fit(X)
        else:
            hdmr = HDMR(categorical_features=[0, 1]).fit(X, y)
        return hdmr.sensitivity_.S_conf, hdmr.component((0,)).standard_error(np.arange(6.0))

    sparse = intervals()
    raw = blocks.BlockColumns.raw
    monkeypatch.setattr(blocks.BlockColumns, "raw", lambda self, span: dense(raw(self, span)))
    for one, other in zip(sparse, intervals(), strict=True):
        assert_close(one, other, 1e-9)


def dense(columns):
    return columns.toarray() if issparse(columns) else columns
