"""X, y, columns and weights must hold numbers. All entry points raise the same error for anything else."""

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.kernel_ridge import KernelRidge

from fasthdmr import HDMR, KernelHDMR, TreeHDMR, analytic, decompose, inspection, kernels, load_forest, salib
from fasthdmr._support.numbers import as_floats, check_numbers, holds_text

# Trees have steps, and more variables than components, so residuals are large.
pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.ResidualWarning")

N = 40
X = np.random.default_rng(0).normal(size=(N, 2))
Y = X[:, 0] + X[:, 0] * X[:, 1]
DAYS = np.datetime64("2020-01-01", "ns") + np.arange(N) * np.timedelta64(1, "D")
BOOSTED = GradientBoostingRegressor(n_estimators=5, max_depth=2, random_state=0).fit(X, Y)
RIDGE = KernelRidge(kernel="poly", degree=2, coef0=1).fit(X, Y)
FOREST = load_forest(BOOSTED)
TREES, MACHINE = TreeHDMR(BOOSTED, smooth=False).fit(X), KernelHDMR(RIDGE).fit(X)
COLUMNS = np.column_stack([X, X[:, 0] * X[:, 1]])
DICTIONARY = decompose(COLUMNS, [0, 1, (0, 1)], coef=[1, 1, 1])
ISHIGAMI = analytic.Ishigami()
NAMED = {"names": ["a", "b"]}


def first(X):
    return X[:, 0]


# The name in the error, and what is called, given an array of a shape that the kinds below fill.
ROWS = {
    "TreeHDMR.fit": ("X", 2, lambda bad: TreeHDMR(BOOSTED).fit(bad)),
    "HDMR.fit": ("X", 2, lambda bad: HDMR(first, categorical_features=None).fit(bad)),
    "KernelHDMR.fit": ("X", 2, lambda bad: KernelHDMR(RIDGE).fit(bad)),
    "predict": ("X", 2, TREES.predict),
    "explain": ("X", 2, lambda bad: TREES.explain(bad[-1:])),
    "component": ("values", 2, lambda bad: TREES.component((0, 1))(bad)),
    "standard_error": ("values", 1, lambda bad: TREES.component(0).standard_error(bad)),
    "fourier": ("values", 1, lambda bad: TREES.component(0).fourier()(bad)),
    "kernel_component": ("X", 2, lambda bad: MACHINE.kernel_component(0)(bad, X)),
    "kernel": ("X", 2, kernels.PolynomialKernel(2)),
    "kernel.diag": ("X", 2, kernels.PolynomialKernel(2).diag),
    "AnovaKernel.fit": ("X", 2, lambda bad: kernels.AnovaKernel(2).fit(bad)),
    "Forest.predict": ("X", 2, FOREST.predict),
    "Forest.group_features": ("X", 2, FOREST.group_features),
    "analytic": ("X", 3, ISHIGAMI),
    "analytic.derivative": ("X", 3, lambda bad: ISHIGAMI.derivative(0, bad)),
    "decompose": ("columns", 3, lambda bad: decompose(bad, [0, 1, (0, 1)], coef=[1, 1, 1])),
    "decompose.evaluate": ("columns", 3, DICTIONARY.evaluate),
    "decompose.component": ("columns", 3, lambda bad: DICTIONARY.component((0,))(bad)),
    "salib": ("X", 2, lambda bad: salib.analyze(NAMED, bad, Y, K=1)),
    "dgsm": ("X", 2, lambda bad: inspection.dgsm(first, bad)),
    "partial_dependence": ("X", 2, lambda bad: inspection.partial_dependence(FOREST, bad, 0, custom_values={0: [0]})),
}
VALUES = {
    "TreeHDMR.fit y": ("y", lambda bad: TreeHDMR(GradientBoostingRegressor(n_estimators=2)).fit(X, bad)),
    "TreeHDMR.fit ridge": ("y", lambda bad: TreeHDMR().fit(X, bad)),
    "TreeHDMR.fit data": ("y", lambda bad: TreeHDMR(BOOSTED, normalise="data").fit(X, bad)),
    "HDMR.fit y": ("y", lambda bad: HDMR().fit(X, bad)),
    "KernelHDMR.fit y": ("y", lambda bad: KernelHDMR(KernelRidge()).fit(X, bad)),
    "score": ("y", lambda bad: TREES.score(X, bad)),
    "decompose y": ("y", lambda bad: decompose(COLUMNS, [0, 1, (0, 1)], y=bad)),
    "decompose coef": ("coef", lambda bad: decompose(np.eye(N), [(j,) for j in range(N)], coef=bad)),
    "salib Y": ("Y", lambda bad: salib.analyze(NAMED, X, bad, K=1)),
    "output": ("the model's output", lambda bad: HDMR(lambda X: bad).fit(X)),
    "TreeHDMR.fit w": ("sample_weight", lambda bad: TreeHDMR(BOOSTED).fit(X, sample_weight=bad)),
    "HDMR.fit w": ("sample_weight", lambda bad: HDMR().fit(X, Y, bad)),
    "score w": ("sample_weight", lambda bad: TREES.score(X, Y, bad)),
    "fidelity w": ("sample_weight", lambda bad: TREES.fidelity(X, bad)),
    "decompose w": ("sample_weight", lambda bad: decompose(COLUMNS, [0, 1, (0, 1)], y=Y, sample_weight=bad)),
    "partial_dependence w": (
        "sample_weight",
        lambda bad: inspection.partial_dependence(FOREST, X, 0, sample_weight=bad),
    ),
    "partial_dependence custom": (
        "custom_values of",
        lambda bad: inspection.partial_dependence(FOREST, X, 0, custom_values={0: bad}),
    ),
    "pd_sensitivity w": ("sample_weight", lambda bad: inspection.pd_sensitivity(FOREST, X, sample_weight=bad)),
    "dgsm w": ("sample_weight", lambda bad: inspection.dgsm(first, X, sample_weight=bad)),
    "dgsm weights": ("weights", lambda bad: inspection.dgsm(first, X, weights={0: lambda own: bad})),
}


def objects(value):
    column = np.empty(N, dtype=object)
    column[:] = [value] * N
    return column


# A column, what it is called in the error, and the remedy.
KINDS = {
    "dates": (DAYS, "dates", "days since"),
    "durations": (DAYS - DAYS[0], "durations", "divide by a unit"),
    "complex": (Y * (1 + 1j), "complex numbers", "Complex data not supported"),
    "text": (Y.astype(str), "text", "Encode|fidelity|Pass a function"),
    "bytes": (Y.astype("S"), "text", "Encode|fidelity|Pass a function"),
    "text among numbers": (np.array([*Y[1:], "1.5"], dtype=object), "text", "Encode|fidelity|Pass a function"),
    "a date among numbers": (np.array([*Y[1:], datetime.date(2020, 1, 1)], dtype=object), "dates", "days since"),
    "NumPy's dates as objects": (objects(np.datetime64("2020-01-01", "ns")), "dates", "days since"),
    "NumPy's durations as objects": (objects(np.timedelta64(1, "h")), "durations", "divide by a unit"),
    "NumPy's complex numbers as objects": (objects(np.complex128(2j)), "complex numbers", "Complex data"),
    "dicts": (objects({}), "objects of type dict", "Pass numbers"),
}


def refused(kind, name, call, bad):
    _, called, remedy = KINDS[kind]
    with pytest.raises((ValueError, TypeError), match=f"{name}.*must be numeric, but .* holds {called}") as raised:
        call(bad)
    assert any(word in str(raised.value) for word in remedy.split("|"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("entry", ROWS)
def test_rows_of_anything_but_numbers_are_refused(entry, kind):
    name, width, call = ROWS[entry]
    refused(kind, name, call, np.column_stack([KINDS[kind][0]] * width))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("entry", VALUES)
def test_values_of_anything_but_numbers_are_refused(entry, kind):
    name, call = VALUES[entry]
    refused(kind, name, call, KINDS[kind][0])


@pytest.mark.parametrize("entry", ROWS)
def test_columns_of_frames_are_named(entry):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    name, width, call = ROWS[entry]
    names = [f"x{j}" for j in range(width)]
    columns = dict(zip(names, X.T[[0, 1, 0]], strict=False)) | {names[-1]: DAYS}
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns)):
        with pytest.raises(
            ValueError, match=f"{name} must be numeric, but column '{names[-1]}' holds dates, such as 2020"
        ):
            call(frame)


@pytest.mark.parametrize("entry", ROWS)
def test_queries_and_masked_values_are_refused(entry):
    pl = pytest.importorskip("polars")
    name, width, call = ROWS[entry]
    lazy = pl.DataFrame({f"x{j}": Y for j in range(width)}).lazy()
    if entry != "explain":  # which takes one row
        with pytest.raises(TypeError, match=rf"LazyFrame.*Pass its rows: {name}\.collect\(\)"):
            call(lazy)
    hidden = np.ma.masked_array(np.column_stack([Y] * width))
    hidden[-1, 0] = np.ma.masked
    with pytest.raises(ValueError, match=r"masked values. Pass .*filled"):
        call(hidden)


@pytest.mark.parametrize("entry", VALUES)
def test_masked_values_of_y_and_weights_are_refused(entry):
    name, call = VALUES[entry]
    with pytest.raises(ValueError, match=f"{name}.*masked values"):
        call(np.ma.masked_array(np.abs(Y), np.arange(N) == 3))


def test_queries_are_refused_by_diagnostics():
    pl = pytest.importorskip("polars")
    lazy = pl.DataFrame(X).lazy()
    for diagnose in (inspection.pd_sensitivity, inspection.dgsm):
        with pytest.raises(TypeError, match=r"X\.collect\(\)"):
            diagnose(FOREST, lazy)
    with pytest.raises(TypeError, match=r"X\.collect\(\)"):
        inspection.partial_dependence(FOREST, lazy, 0)


@pytest.mark.parametrize("labels", [np.array(["a", "b"])[(Y > 0).astype(int)], objects("a")])
def test_text_is_a_label_for_classifiers_that_are_not_fitted(labels):
    if len(set(labels)) > 1:
        TreeHDMR(GradientBoostingClassifier(n_estimators=2)).fit(X, labels)
    with pytest.raises(ValueError, match="y must be numeric, but it holds text"):
        TreeHDMR(GradientBoostingRegressor(n_estimators=2)).fit(X, labels)


@pytest.mark.parametrize(
    "values",
    [
        [1, None, np.nan],
        np.array([Fraction(1, 2), Decimal("0.5"), True, np.float32(1), np.bool_(True)], dtype=object),
        np.array([[1.0, 2.0]], dtype=object),
        np.ma.masked_array([1.0, 2.0]),
        np.array(["1"], dtype=object)[:0],
        [[1], [1, 2]],
        3,
        None,
    ],
    ids=["missing", "objects", "table", "unmasked", "empty", "ragged", "number", "none"],
)
def test_numbers_pass(values):
    check_numbers(values, "X")


def test_frames_of_numbers_pass():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    frame = pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": pd.Categorical([3, 4]), "c": [True, False]})
    assert np.array_equal(as_floats(frame, "X"), [[1, 3, 1], [np.nan, 4, 0]], equal_nan=True)
    assert np.array_equal(as_floats(frame["a"], "y"), [1, np.nan], equal_nan=True)
    assert np.array_equal(as_floats(pl.DataFrame({"a": [True, None]}), "X"), [[1], [np.nan]], equal_nan=True)


def test_errors_name_the_content_of_frames():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    with pytest.raises(ValueError, match="column 'c' holds text: could not convert string to float: 'u'"):
        check_numbers(pd.DataFrame({"a": [1, 2], "c": pd.Categorical(["u", "v"])}), "X")
    with pytest.raises(ValueError, match="column 't' holds dates"):
        check_numbers(pd.DataFrame({"t": pd.to_datetime(DAYS).tz_localize("UTC")}), "X")
    with pytest.raises(ValueError, match="column 't' holds dates"):
        check_numbers(pl.DataFrame({"t": [datetime.time(1)]}), "X")
    with pytest.raises(TypeError, match="column 'p' holds objects of type Period"):
        check_numbers(pd.DataFrame({"p": pd.period_range("2020", "2021", freq="Y")}), "X")
    with pytest.raises(TypeError, match=r"objects of type NAType.*NaN where they are missing"):
        check_numbers(np.array([1, pd.NA], dtype=object), "y")
    with pytest.raises(TypeError, match="records of type"):
        check_numbers(np.zeros(2, dtype=[("a", float)]), "X")
    assert holds_text(pd.Series(["a", None])) and not holds_text(pd.Series([1, None]))


def test_long_text_is_cut():
    with pytest.raises(ValueError) as raised:
        check_numbers(["a" * 1_000_000], "y")
    assert len(str(raised.value)) < 300
