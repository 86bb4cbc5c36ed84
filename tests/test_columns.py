"""decompose: what users pass, and what they get."""

import numpy as np
import pytest
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
    assert result.sensitivity.names == ["a", "b", "a b"]
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "Give either coef or y"),
        ({"coef": COEF, "y": X[:, 0]}, "Give either coef or y"),
        ({"coef": COEF[:2]}, "one row for each of the 4 columns"),
        ({"coef": [np.nan] * 4}, "coef contains NaN"),
        ({"y": X[:7, 0]}, "inconsistent numbers of samples"),
        ({"coef": COEF, "subspaces": SUBSPACES[:3]}, "one subspace for each of the 4 columns, got 3"),
        ({"coef": COEF, "subspaces": ["a", "b", "z", ()]}, "names 'z'"),
        ({"coef": COEF, "subspaces": [("a", "a"), "a", "b", ()]}, "twice"),
        ({"coef": COEF, "subspaces": [(), "a", "b", ()]}, "Column 0 has the subspace .*not constant"),
        ({"coef": COEF, "feature_names": None}, "need feature_names"),
        ({"coef": COEF, "columns": [["x"]]}, "could not convert"),
    ],
)
def test_wrong_input_is_refused(arguments, message):
    defaults = {"columns": COLUMNS, "subspaces": SUBSPACES, "feature_names": ["a", "b"]}
    with pytest.raises(ValueError, match=message):
        decompose(**defaults | arguments)
