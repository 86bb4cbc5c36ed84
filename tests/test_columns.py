"""decompose: what users pass, and what they get."""

import re

import numpy as np
import pytest
from scipy.linalg import LinAlgWarning
from tolerance import assert_close

from fasthdmr import decompose

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 2)) + np.array([0, 1])
COLUMNS = np.column_stack([X[:, 0] * X[:, 1], X, np.full(400, 2.0)])
SUBSPACES = [("b", "a"), "a", ["b"], ()]
COEF = np.array([1.0, 2.0, -1.0, 0.25])


def test_columns_come_in_any_order_and_by_name():
    result = decompose(COLUMNS, SUBSPACES, coef=COEF, feature_names=["a", "b"])
    assert result.subspaces == [(0,), (1,), (0, 1)]
    assert result.sensitivity.names == ["a", "b", "a & b"]
    assert list(result.column_order) == [1, 2, 0]
    assert_close(result.predict(COLUMNS), COLUMNS @ COEF)
    assert_close(result.coef, [2.0, -1.0, 1.0])
    assert_close(result.A @ result.nu, [0.5, 2.0, -1.0, 1.0])
    component = result.component((0, 1))
    assert_close(component(COLUMNS), result.evaluate(COLUMNS)[:, 2])
    with pytest.raises(ValueError, match="dictionary of columns takes an array"):
        component(X)


def test_several_functions_share_a_dictionary():
    coef = np.column_stack([COEF, COEF[::-1]])
    result = decompose(COLUMNS, SUBSPACES, coef=coef, feature_names=["a", "b"])
    assert result.evaluate(COLUMNS).shape == (400, 3, 2)
    assert_close(result.predict(COLUMNS), COLUMNS @ coef)
    assert result.nu.shape == (4, 2)
    fitted = decompose(COLUMNS, SUBSPACES, y=COLUMNS @ coef, feature_names=["a", "b"])
    assert_close(fitted.predict(COLUMNS), COLUMNS @ coef, 1e-10)


def test_weights_are_repetitions():
    weights = RNG.integers(0, 3, size=400)
    weighted = decompose(COLUMNS, SUBSPACES, coef=COEF, sample_weight=weights, feature_names=["a", "b"])
    repeated = decompose(np.repeat(COLUMNS, weights, axis=0), SUBSPACES, coef=COEF, feature_names=["a", "b"])
    assert_close(weighted.evaluate(COLUMNS), repeated.evaluate(COLUMNS))


def test_order_keeps_and_the_rest_is_residual():
    result = decompose(COLUMNS, SUBSPACES, coef=COEF, order=1, feature_names=["a", "b"])
    assert result.subspaces == [(0,), (1,)]
    assert_close(result.sensitivity.S.sum() + result.residual, 1.0)
    residual = COLUMNS @ COEF - result.predict(COLUMNS)
    assert_close(result.residual, np.cov(residual, COLUMNS @ COEF, bias=True)[0, 1] / (COLUMNS @ COEF).var(), 1e-10)


# --- columns far from zero ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("constant", [1.0, -1 / 3, 1e9 / 7])
@pytest.mark.parametrize("subspace", [1, 2, (0, 1)])
@pytest.mark.parametrize("weights", [None, np.random.default_rng(1).uniform(size=400)])
def test_a_constant_column_changes_nothing_of_a_fit(constant, subspace, weights):
    y = X[:, 0] + 0.1 * RNG.normal(size=400)
    plain = decompose(X, [0, 1], y=y, sample_weight=weights)
    columns = np.column_stack([X, np.full(400, constant)])
    with pytest.warns(LinAlgWarning, match="numerical rank 3 ") as record:
        result = decompose(columns, [0, 1, subspace], y=y, sample_weight=weights)
    assert len(record) == 1
    assert_close(result.sensitivity.S[:2], plain.sensitivity.S)
    assert (result.sensitivity.S[2:] == 0).all()
    assert result.coef[-1] == 0
    assert_close(result.predict(columns), plain.predict(X))


def near_copies(mean, near, n_rows):
    """Two columns that differ by a part `near`, and one that depends on both, all far from zero; and the same centred.

    No rounding: the centred ones are exact differences.
    """
    a, b, c = np.random.default_rng(2).normal(size=(3, n_rows))
    columns = np.column_stack([a, a + near * b, a * b + c + a]) + mean
    return columns, columns - columns[0]


@pytest.mark.parametrize("mean", [1e3, -1e6, 1e9])
@pytest.mark.parametrize("n_rows", [200, 3000])  # by Householder QR, and by Cholesky QR
@pytest.mark.parametrize("weighted", [False, True])
def test_indices_do_not_depend_on_means(mean, n_rows, weighted):
    columns, centred = near_copies(mean, 0.1, n_rows)
    weights = np.random.default_rng(3).uniform(size=n_rows) if weighted else None
    arguments = {"subspaces": [0, 1, (0, 1)], "sample_weight": weights}
    far, near = (decompose(c, coef=[1, 0.5, 0.25], **arguments) for c in (columns, centred))
    # Weights round the differences from a mean that is rounded; the condition is about 10.
    assert_close(far.sensitivity.Sa, near.sensitivity.Sa)
    assert_close(far.sensitivity.S, near.sensitivity.S)
    y = centred[:, 2] + 0.1 * np.random.default_rng(4).normal(size=n_rows)
    far, near = (decompose(c, y=t, **arguments) for c, t in ((columns, y + 2.0**40), (centred, y)))
    rounding = 2.0**-12  # of y + 2**40, and so of what is fitted
    assert_close(far.sensitivity.S, near.sensitivity.S, 10 * rounding, reason="the rounding of y, times the condition")
    far, near = (decompose(c, y=y, **arguments) for c in (columns, centred))
    assert_close(far.sensitivity.S, near.sensitivity.S)


@pytest.mark.parametrize("mean", [0, 1e3, 1e6, 1e9])
@pytest.mark.parametrize("n_rows", [200, 3000])
@pytest.mark.parametrize(("factor", "term"), [(1, 0), (3, 5), (-0.7, 0), (1e-5, 1e4)])
def test_copies_with_large_means_share_equally(mean, n_rows, factor, term):
    a, b = np.random.default_rng(5).normal(size=(2, n_rows))
    x = a + mean
    columns = np.column_stack([x, factor * x + term, a * b + 0.3 * a])
    with pytest.warns(LinAlgWarning, match="numerical rank 3 ") as record:
        result = decompose(columns, [0, 1, (0, 1)], coef=[0, 0, 1])
    assert len(record) == 1
    f, values = columns[:, 2], result.evaluate(columns)
    rounding = np.finfo(float).eps * np.max(1 + np.abs(columns.mean(axis=0)) / columns.std(axis=0))
    assert np.abs(result.intercept + values.sum(axis=1) - f).max() < 20 * rounding
    assert_close(values[:, 0], values[:, 1], max(1e-12, 20 * rounding), reason="the rounding of the columns")
    assert_close(
        values[:, 2], f - f.mean() - slope(f, a) * (a - a.mean()), max(1e-12, 20 * rounding), reason="as above"
    )


def slope(f, x):
    return np.cov(f, x)[0, 1] / x.var(ddof=1)


@pytest.mark.parametrize(("mean", "near"), [(0, 1e-11), (1e3, 1e-9), (1e9, 1e-3)])
def test_a_sum_with_large_rounding_errors_warns(mean, near):
    a, b, c = np.random.default_rng(6).normal(size=(3, 300))
    columns = np.column_stack([a + mean, a + mean + near * c, a * b])
    with pytest.warns(
        LinAlgWarning, match=r"times as large as those of f, so their sum differs from f by about"
    ) as record:
        result = decompose(columns, [0, 1, (0, 1)], coef=[1, 1, 1])
    assert len(record) == 1
    told = float(re.search("about (.*) standard deviations", str(record[0].message))[1])
    f = columns @ [1, 1, 1]
    missed = np.abs(result.intercept + result.evaluate(columns).sum(axis=1) - f).max() / f.std()
    assert told / 10 < missed < 10 * told


def test_rows_without_weight_do_not_affect_the_rank():
    columns, _ = near_copies(1e6, 0.1, 3000)
    weights = np.zeros(3000)
    weights[5::7] = 1.0
    spoiled = np.where(weights[:, None] > 0, columns, 1e15)
    arguments = {"subspaces": [0, 1, (0, 1)], "coef": [1, 0.5, 0.25]}
    kept = decompose(columns[5::7], **arguments).sensitivity
    for tiny in (0.0, 1e-40):
        result = decompose(spoiled, **arguments, sample_weight=np.maximum(weights, tiny)).sensitivity
        assert_close(result.S, kept.S, 1e-10)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "Pass exactly one of coef"),
        ({"coef": COEF, "y": X[:, 0]}, "Pass exactly one of coef"),
        ({"coef": COEF[:2]}, "one row for each of the 4 columns"),
        ({"coef": [np.nan] * 4}, "coef contains NaN"),
        ({"y": X[:7, 0]}, "inconsistent numbers of samples"),
        ({"coef": COEF, "subspaces": SUBSPACES[:3]}, "one subspace for each of the 4 columns, got 3"),
        ({"coef": COEF, "subspaces": ["a", "b", "z", ()]}, "names 'z'"),
        ({"coef": COEF, "subspaces": [("a", "a"), "a", "b", ()]}, "twice"),
        ({"coef": COEF, "subspaces": [(), "a", "b", ()]}, "Column 0 has the subspace .*not constant"),
        ({"coef": COEF, "feature_names": None}, "Pass feature_names"),
        ({"coef": COEF, "columns": [["x"]]}, "could not convert"),
    ],
)
def test_wrong_input_is_refused(arguments, message):
    defaults = {"columns": COLUMNS, "subspaces": SUBSPACES, "feature_names": ["a", "b"]}
    with pytest.raises(ValueError, match=message):
        decompose(**defaults | arguments)
