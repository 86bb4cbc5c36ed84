"""Smoothing of components by band-limited Fourier series (spec 5)."""

import numpy as np
import pytest
from tolerance import assert_close

from fasthdmr import HDMR, TreeHDMR, decompose
from fasthdmr.datasets import make_ishigami

X, y = make_ishigami(4000, random_state=0)


def test_a_step_like_component_becomes_the_function_behind_it():
    hdmr = TreeHDMR(random_state=0, basis="trees").fit(X, y)
    exact = (1 + 0.1 * np.pi**4 / 5) * np.sin(X[:, 0])
    component = hdmr.component(0)
    smooth = component.fourier(degree=4)(X[:, 0])
    rough = component(X[:, 0])
    assert np.linalg.norm(smooth - exact) < np.linalg.norm(rough - exact)
    assert abs(smooth.mean()) < 1e-9


def test_it_is_the_weighted_projection():
    weights = np.random.default_rng(0).uniform(0, 2, size=len(X))
    component = HDMR(order=1).fit(X, y, sample_weight=weights).component(1)
    series = component.fourier(degree=3)
    x = X[:, 1]
    angle = 2 * np.pi * (x - x.min()) / (x.max() - x.min())
    design = np.column_stack([f(k * angle) for f in (np.cos, np.sin) for k in (1, 2, 3)])
    design -= np.average(design, axis=0, weights=weights)
    root = np.sqrt(weights)
    values = component(x)
    coef = np.linalg.lstsq(root[:, None] * design, root * values, rcond=None)[0]
    assert_close(series(x), design @ coef, 1e-9)
    assert series.degree == 3


def test_several_outputs():
    component = HDMR(order=1).fit(X, np.column_stack([y, -y])).component(0)
    both = component.fourier()(X[:5, 0])
    assert both.shape == (5, 2)
    assert_close(both[:, 0], -both[:, 1], 1e-9)


def test_components_without_a_series_are_refused():
    hdmr = HDMR().fit(X, y)
    with pytest.raises(ValueError, match="Only a component of one numeric variable"):
        hdmr.component((0, 2)).fourier()
    with pytest.raises(ValueError, match="degree must be a positive integer, got 0"):
        hdmr.component(0).fourier(0)
    columns = decompose(X, [0, 1, 2], coef=[1, 1, 1])
    with pytest.raises(ValueError, match="Only a component"):
        columns.component((0,)).fourier()
