"""Spans of categorical variables: indicators of levels, contingency tables, and a curve for each level."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import purification
from reference import spans as reference
from scipy.sparse import issparse
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.tree import DecisionTreeRegressor
from tolerance import assert_close

import fasthdmr
from fasthdmr import HDMR, TreeHDMR
from fasthdmr._dictionaries.black_box import FunctionDictionary
from fasthdmr._results.assembly import assemble
from fasthdmr._solve.problem import Kept, Problem
from fasthdmr._spans import choice, fit, joint_fit, levels, span_dictionaries
from fasthdmr._spans.basis import closure, coarse_basis, make_basis
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
    for module in (fit, choice):
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


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_bias_of_the_ridge_is_bounded(seed):
    """At a cell: the range of the table times c / (p n), summed over both levels and the cell, n rows each.

    c is the constant of the ridge, p the number of columns of the span. Measured: at most 0.3 of that.
    """
    rng = np.random.default_rng(seed)
    shape, n = (rng.integers(2, 15), rng.integers(2, 10)), rng.integers(60, 1500)
    at = tuple(rng.choice(levels, n, p=rng.dirichlet(np.ones(levels))) for levels in shape)
    table, mass = rng.normal(size=shape), np.zeros(shape)
    np.add.at(mass, at, 1)
    _, rows, columns, rest = purification.purify(table, mass)
    codes = np.column_stack(at)
    found = decompose(codes, table[at], dict(enumerate(shape)))
    n_rows, n_columns = mass.sum(axis=1)[at[0]], mass.sum(axis=0)[at[1]]
    bound = 1 / (shape[0] * n_rows) + 1 / (shape[1] * n_columns) + 1 / (table.size * mass[at])
    bound *= found[0].regression.factor * np.ptp(table)
    values = components(*found, codes)
    for u, expected in (((0,), rows[at[0]]), ((1,), columns[at[1]]), ((0, 1), rest[at])):
        assert (np.abs(values[u] - expected) <= bound).all()


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


@st.composite
def tables(draw):
    """Rows of two categorical variables and a numeric one, values, numbers of levels, and weights."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, first, second = draw(st.integers(40, 120)), draw(st.integers(1, 8)), draw(st.integers(2, 6))
    X = np.column_stack([rng.integers(0, first, n), rng.integers(0, second, n), rng.normal(size=n)]).astype(float)
    case = draw(st.sampled_from(["any", "empty cells", "nested", "one row", "equal"]))
    if case == "empty cells":
        X = X[(X[:, 0] + X[:, 1]) % 3 != 1]
    elif case == "nested":
        X[:, 1] = X[:, 0] % second
    elif case == "one row":  # and a level without any
        X[:, 1] = np.minimum(X[:, 1], max(second - 3, 0))
        X[0, 1] = second - 1
    elif case == "equal":
        first, X[:, 0] = second, X[:, 1]
    y = rng.normal(size=len(X)) + X[:, 0] * X[:, 1] + X[:, 2] * (X[:, 1] == 0)
    kind = draw(st.sampled_from(["none", "whole", "real"]))
    if kind == "none":
        return X, y, {0: first, 1: second}, None
    weights = rng.integers(0, 3, len(X)) * (1.0 if kind == "whole" else rng.uniform(0.5, 1, len(X)))
    weights[X[:, 1] == 1] = 0.0
    weights[:5] = 1.0
    return X, y, {0: first, 1: second}, weights


@settings(max_examples=60, deadline=None)
@given(tables(), st.integers(1, 3))
def test_random_tables_are_decomposed_as_by_dense_columns(table, order):
    """Empty cells, nested and equal variables, rare levels, levels without weight, constant variables."""
    X, y, n_levels, weights = table
    dictionary, solution = decompose(X, y, n_levels, weights, order)
    basis, w = dictionary.basis, np.ones(len(X)) if weights is None else weights
    spans = reference.columns(basis, X)
    parts = reference.project(y, spans, w, dictionary.regression.factor)[1]
    expected = reference.hand_down(basis.subspaces, spans, zip(basis.subspaces, parts, strict=True), {}, w)
    found = components(dictionary, solution, X)
    for u, values in found.items():
        error = np.abs(values - expected[u])[w > 0].max()
        assert error < 1e-7 * np.ptp(y), "normal equations"
        below = [s for v, s in zip(basis.subspaces, spans, strict=True) if set(v) < set(u)]
        drop = reference.project(values, below, w, 0.0)[0]
        assert np.average(drop**2, weights=w) < 0.02 * np.var(y)  # orthogonal up to the ridge: a level can be one row
    unknown = components(dictionary, solution, [[9, 9, 0.0], [0, 9, 50.0], [9, 0, 1.0]])
    assert all(np.isfinite(values).all() for values in unknown.values())
    assert np.isfinite(solution.covariance).all() and np.isfinite(solution.constant)


@settings(max_examples=20, deadline=None)
@given(tables())
def test_whole_weights_are_repetitions(table):
    X, y, n_levels, weights = table
    weights = np.arange(len(X)) % 3.0 if weights is None else np.ceil(weights)
    repeated = np.repeat(np.arange(len(X)), weights.astype(int))
    one, other = decompose(X, y, n_levels, weights), decompose(X[repeated], y[repeated], n_levels)
    at = X[repeated]
    assert one[1].subspaces == other[1].subspaces
    for u, values in components(*one, at).items():
        assert np.abs(values - components(*other, at)[u]).max() < 1e-8 * np.ptp(y)


def test_coarse_spans_keep_the_frequent_levels():
    X = np.column_stack([RNG.integers(0, 40, 500), RNG.normal(size=500)])
    basis = make_basis(X, None, closure([(0, 1)], 2), (8, 6), degree=3, n_levels={0: 40}, max_levels=(40, 12))
    coarse, refine = coarse_basis(basis)
    assert coarse.sizes == [32, 4, 4 * 3]
    fine = np.hstack([np.ones((500, 1)), *reference.columns(basis, X)])
    expected = np.hstack([np.ones((500, 1)), *reference.columns(coarse, X)])
    assert_close(fine @ refine(np.eye(coarse.core.n_columns)), expected, 1e-9)


def test_many_levels_in_a_joint_projection():
    """More levels than those that are factored in one matrix, some of which are merged in pairs."""
    X = np.column_stack([RNG.integers(0, 50, 900), RNG.integers(0, 3, 900), RNG.normal(size=900)])
    y = np.sin(X[:, 0]) * X[:, 2] + X[:, 1] + RNG.normal(size=900)
    dims = {"n_levels": {0: 50, 1: 3}, "max_levels": (50, 20)}
    basis = make_basis(X, None, closure([(0, 1, 2)], 2), (8, 5), degree=3, **dims)
    (solution,), regression = fit.solve_values(X, None, basis, y[:, None].copy(), n_threads=1)
    spans = reference.columns(basis, X)
    parts = reference.project(y, spans, np.ones(900), regression.factor)[1]
    expected = reference.hand_down(basis.subspaces, spans, zip(basis.subspaces, parts, strict=True), {}, np.ones(900))
    dictionary = span_dictionaries.ValueSpans(FunctionDictionary(None, 3), [1], basis, regression)
    for u, values in components(dictionary, solution, X).items():
        assert_close(values, expected[u], 1e-7, reason="normal equations")


def test_trees_on_two_categorical_variables_are_purified(without_ridge):
    """The function of the trees is a table, whatever the trees; components are those of its purification."""
    codes = np.column_stack([RNG.integers(0, 7, 600), RNG.integers(0, 4, 600)]).astype(float)
    codes = codes[(codes[:, 0] != 2) | (codes[:, 1] != 1)]  # an empty cell
    table = RNG.normal(size=(7, 4))
    model = GradientBoostingRegressor(random_state=0).fit(codes, table[tuple(codes.astype(int).T)])
    hdmr = TreeHDMR(model, categorical_features=[0, 1]).fit(codes)
    levels = [np.array(hdmr.decomposition_.levels[j]) for j in (0, 1)]
    mass = np.array([[np.sum((codes == [a, b]).all(axis=1)) for b in range(4)] for a in range(7)], dtype=float)
    cells = np.array([[model.predict([[a, b]])[0] for b in range(4)] for a in range(7)])
    _, rows, columns, rest = purification.purify(cells, mass)
    assert [len(of) for of in levels] == [7, 4]
    values = dict(zip(hdmr.subspaces_, hdmr.evaluate(codes).T, strict=True))
    at = tuple(codes.astype(int).T)
    assert_close(values[0,], rows[at[0]], 1e-9)
    assert_close(values[1,], columns[at[1]], 1e-9)
    assert_close(values[0, 1], rest[at], 1e-9)


@pytest.mark.parametrize("kind", ["values", "trees"])
def test_components_do_not_depend_on_names_and_order_of_levels(kind):
    n = 500
    frame = pd.DataFrame({"city": RNG.choice(list("abcdefgh"), n), "x": RNG.normal(size=n)})
    y = (frame["city"] == "b") * frame["x"] + frame["city"].map(dict(zip("abcdefgh", range(8), strict=True)))
    names = dict(zip("abcdefgh", ["z", "10", "a", "9", "é", "b", "", "Ω"], strict=True))
    renamed = frame.assign(city=pd.Categorical(frame["city"].map(names), categories=sorted(names.values())))
    codes = frame["city"].map(dict(zip("abcdefgh", range(8), strict=True))).to_numpy()
    model = GradientBoostingRegressor(random_state=0).fit(np.column_stack([codes, frame["x"]]), y)

    def fitted(X, code_of):
        if kind == "values":
            return HDMR().fit(X, y)
        return HDMR(lambda Z: model.predict(np.column_stack([Z["city"].map(code_of), Z["x"]]).astype(float))).fit(X)

    one = fitted(frame, dict(zip("abcdefgh", range(8), strict=True)))
    other = fitted(renamed, {names[c]: k for k, c in enumerate("abcdefgh")})
    assert_close(other.evaluate(renamed), one.evaluate(frame), 1e-12)
    assert_close(other.sensitivity_.S, one.sensitivity_.S, 1e-12)
    assert_close(one.sensitivity_.S.sum() + one.sensitivity_.residual, 1.0, 1e-12)


def test_fewer_rows_than_columns(monkeypatch):
    """Elimination of levels, and the Gram matrix of the rows."""
    X = np.column_stack([RNG.integers(0, 50, 400), RNG.normal(size=(400, 2))])
    y = np.sin(X[:, 0]) * X[:, 1] + X[:, 2] + RNG.normal(size=400)
    one = decompose(X, y, {0: 50})
    assert sum(one[0].basis.sizes) > 400
    monkeypatch.setattr(joint_fit, "_MAX_COLUMNS", 0)
    other = decompose(X, y, {0: 50})
    for u, values in components(*one, X).items():
        assert_close(values, components(*other, X)[u], 1e-9)


def test_merged_levels_in_a_group_of_columns(monkeypatch):
    monkeypatch.setattr(levels, "MAX_COLUMNS", (2000, 1000))
    frame = pd.DataFrame({"x": RNG.normal(size=900), "city": RNG.choice([f"c{k}" for k in range(400)], 900)})
    with pytest.warns(fasthdmr.LevelsWarning, match="levels of city in spans of pairs"):
        hdmr = HDMR(feature_groups={"place": ["city", "x"]}).fit(frame, frame["x"])
    assert hdmr.subspaces_ == [(0,)]


@pytest.mark.filterwarnings("ignore::fasthdmr.LevelsWarning")
@pytest.mark.parametrize("n_levels", [20, 300])
def test_nested_levels_have_concurvity_1(n_levels):
    """A city lies in one state. With many cities, the rarest are merged in pairs, but not here."""
    city = np.arange(2500) % n_levels
    X = np.column_stack([city, city % 5, RNG.normal(size=2500)])
    y = RNG.normal(size=n_levels)[city] + X[:, 2] + np.array([0.0, 2, -1, 3, 0])[city % 5]
    with pytest.warns(fasthdmr.ConcurvityWarning, match="functions of x0 explain the main effect of x1"):
        hdmr = HDMR(categorical_features=[0, 1]).fit(X, y)
    assert hdmr.decomposition_.concurvity[1] > 0.999 and hdmr.decomposition_.concurvity[2] < 0.3
    assert_close(hdmr.sensitivity_.S.sum() + hdmr.sensitivity_.residual, 1.0, 1e-12)


@pytest.mark.parametrize("kind", ["noise", "function", "trees"])
def test_standard_errors_of_levels_with_few_rows_are_long_enough(kind):
    """By Student's t with n - 1 degrees of freedom, 2 standard errors cover 0.82 for 3 rows and 0.88 for 5.

    Rows of one level differ by noise or, for functions without noise, by their interaction with another variable.
    """
    rng = np.random.default_rng(1)
    few = np.repeat([3, 5], 100)  # rows of the first 200 levels; 40 others have 30
    every = np.column_stack([np.repeat(np.arange(240.0), 60), np.tile(np.linspace(-3, 3, 60), 240)])
    code = np.repeat(np.arange(240.0), [*few, *np.full(40, 30)])
    X = np.column_stack([code, rng.normal(size=len(code))])

    def function(X):
        return np.sin(1.7 * X[:, 0]) + 0.5 * np.sign(np.cos(1.3 * X[:, 0])) * np.sign(X[:, 1])

    if kind == "noise":
        y = np.sin(1.7 * code) + 0.5 * rng.normal(size=len(code))
        hdmr = HDMR(order=1, categorical_features=[0]).fit(X, y)
    elif kind == "function":
        hdmr = HDMR(function, categorical_features=[0]).fit(X)
    else:
        tree = DecisionTreeRegressor(random_state=0).fit(every, function(every))
        hdmr = TreeHDMR(tree, categorical_features=[0]).fit(X)
    component, levels = hdmr.component((0,)), np.arange(200.0)
    error = np.abs(component(levels) - np.sin(1.7 * levels) + np.mean(np.sin(1.7 * code)))
    deviation = component.standard_error(levels)
    if kind != "noise":  # there the ridge shrinks effects by a quarter, and intervals do not include this bias
        assert np.mean(error[few == 3] ** 2) < 0.9 * np.mean(deviation[few == 3] ** 2)
    covered = error < 2 * deviation
    assert covered[few == 3].mean() > 0.7  # the standard deviation of a share of 100 levels is 0.04
    assert covered[few == 5].mean() > 0.75


@pytest.mark.parametrize("model", [None, GradientBoostingRegressor(random_state=0)], ids=["values", "trees"])
def test_a_level_of_one_row_has_no_standard_error(model):
    code = np.array([0.0, *np.repeat([1.0, 2.0], 80), 3.0, 3.0])
    X = np.column_stack([code, np.linspace(-1, 1, len(code))])
    y = (code == 2) * X[:, 1] + (code == 0)
    made = HDMR if model is None else TreeHDMR
    hdmr = made(None if model is None else model.fit(X, y), categorical_features=[0], n_jobs=1)
    hdmr.fit(X, *([y] if model is None else []))
    error = hdmr.component((0,)).standard_error([0.0, 1.0, 2.0, 3.0])
    assert np.isnan(error).tolist() == [True, False, False, False]
    assert np.isfinite(hdmr.sensitivity_.S_conf).all()
