"""Which pairs are kept: screened on some rows, with their weights."""

import warnings

import numpy as np
import pytest
from tolerance import assert_close

from fasthdmr import HDMR
from fasthdmr._spans import choice, pair_strengths, planning
from fasthdmr._spans.levels import plan_levels

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
Y = np.prod(1 + X, axis=1)
WEIGHTS = RNG.integers(0, 4, size=120).astype(float)
PAIRS = [(0, 1), (0, 3), (2, 3)]


def test_weights_are_repetitions_of_rows():
    repeated = np.repeat(np.arange(120), WEIGHTS.astype(int))
    values = np.column_stack([Y, X[:, 0] * X[:, 3]])
    found = pair_strengths.screen_pairs(X, WEIGHTS, values, PAIRS, 3)
    assert_close(found, pair_strengths.screen_pairs(X[repeated], None, values[repeated], PAIRS, 3), 1e-9)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
def test_pairs_are_screened_on_evenly_spaced_rows(weights, monkeypatch):
    monkeypatch.setattr(pair_strengths, "_ROWS", 40)
    for name, value in {"MAX_DUAL_ROWS": 50, "MAX_JOINT_COLUMNS": 40}.items():
        monkeypatch.setattr(planning, name, value)
    calls, screen_pairs = [], pair_strengths.screen_pairs

    def screen(*arguments):
        calls.append(arguments)
        return screen_pairs(*arguments)

    monkeypatch.setattr(choice, "screen_pairs", screen)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*pairs of variables are left out")
        HDMR().fit(X, Y, sample_weight=weights)
    rows, own, values, *_ = calls[0]
    assert np.array_equal(rows, X[::3])
    assert own is None if weights is None else np.array_equal(own, weights[::3])
    assert_close(values[:, 0], Y[::3], 1e-9)


def test_pairs_have_no_more_levels_than_their_variables():
    """A variable with one level leaves room for more in a pair than the other variable has alone."""
    assert plan_levels([(0,), (1,), (0, 1)], (12, 8), {0: 3000, 1: 1}, lambda levels: True) == [2000, 2000]
