"""Derivative-based measures: exact ones, differences, and the paper's table."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from tolerance import assert_close

from fasthdmr.analytic import GaussianQuadratic, Ishigami
from fasthdmr.inspection import dgsm

TRIPLE = [0, 1, (0, 1)]


def bilinear(rho):
    return GaussianQuadratic([0, 0], [[1, rho], [rho, 1]], 1, [1, 1], [[0, 0.5], [0.5, 0]])


@pytest.mark.parametrize("rho", [-0.9, 0.0, 0.5])
def test_the_papers_row_does_not_depend_on_the_correlation(rho):
    found = dgsm(bilinear(rho), subspaces=TRIPLE)
    assert_close(found.S, [0.4, 0.4, 0.2])
    assert found.steps is None and found.names == ["x0", "x1", "x0 & x1"]


@pytest.mark.parametrize("rho", [-0.5, 0.0, 0.7])
def test_the_papers_row_of_the_variance(rho):
    def variance(beta):
        return beta[:, 0] ** 2 + 2 * rho * beta[:, 0] * beta[:, 1] + beta[:, 1] ** 2 + beta[:, 2] ** 2 * (rho**2 + 1)

    found = dgsm(variance, np.ones((1, 3)))
    desired = 2 * (rho + 1) ** 2 / (rho * (rho**3 + 4 * rho + 4) + 3)
    assert_close(found.S[:2].sum(), desired, rtol=1e-8, reason="central differences round")


def test_differences_come_to_the_derivatives():
    model = Ishigami()
    rows = model.sample(500, random_state=0)
    subspaces = [0, 1, 2, (0, 2), (0, 1)]
    exact, differences = dgsm(model, rows, subspaces), dgsm(lambda X: model(X), rows, subspaces)
    assert_close(differences.values, exact.values, rtol=1e-6, reason="central differences leave out step squared")
    assert exact.steps is None
    assert_close(differences.steps[0, 2], np.finfo(float).eps ** 0.25 * rows[:, [0, 2]].std(axis=0))


def test_weights_and_sample_weights():
    model = Ishigami()
    rows = model.sample(200, random_state=0)
    found = dgsm(model, rows, [0, 1], weights={1: lambda x: x[:, 0] ** 2})
    desired = [np.mean(model.derivative(0, rows) ** 2), np.mean(model.derivative(1, rows) ** 2 * rows[:, 1] ** 2)]
    assert_close(found.values, desired)
    counts = np.arange(200) % 3
    repeated = dgsm(model, np.repeat(rows, counts, axis=0), [0, 2])
    assert_close(dgsm(model, rows, [0, 2], sample_weight=counts).values, repeated.values)


def test_data_frames_and_names():
    frame = pd.DataFrame({"a": [0.0, 1.0, 3.0], "b": [1.0, 0.0, 2.0]})
    model = LinearRegression().fit(frame, 2 * frame["a"] - frame["b"])
    found = dgsm(model, frame, ["b", ("a", "b")])
    assert found.names == ["b", "a & b"]
    assert_close(found.values, [1.0, 0.0], rtol=1e-8, reason="central differences round")
    assert found.table().columns == ("subspace", "names", "value", "S")


def test_invalid_input_is_refused():
    with pytest.raises(ValueError, match="X is None, but only"):
        dgsm(lambda X: X[:, 0])
    with pytest.raises(ValueError, match="weights were passed, but X is None"):
        dgsm(Ishigami(), weights={0: lambda x: x[:, 0]})
    with pytest.raises(ValueError, match="step == 0, must be > 0"):
        dgsm(lambda X: X[:, 0], np.ones((3, 1)), step=0)
    with pytest.raises(ValueError, match="one output, got 2"):
        dgsm(lambda X: X, np.ones((3, 2)))
    with pytest.raises(ValueError, match="variable 5"):
        dgsm(Ishigami(), subspaces=[5])


def test_a_constant_has_no_shares():
    assert_close(dgsm(lambda X: np.ones(len(X)), np.ones((3, 2))).S, [0.0, 0.0])
