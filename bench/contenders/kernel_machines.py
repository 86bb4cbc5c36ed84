"""A kernel machine's own prediction, and its whole decomposition on the same rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.runner import Arrays, Contender


def predict(model: Any, X: np.ndarray) -> Contender:
    """Return the machine's own prediction, the reference of the sum of components."""
    return Contender("SVR.predict", "", lambda _: model.predict(X), summary=lambda output: {"output": output})


def ours(model: Any, X: np.ndarray) -> list[Contender]:
    """Return the decomposition under the rows, with and without the values of all components at them."""
    from fasthdmr import KernelHDMR

    def whole(_: Any) -> tuple[Any, np.ndarray]:
        hdmr = KernelHDMR(model).fit(X)
        return hdmr, hdmr.evaluate(X)

    def summary(result: tuple[Any, np.ndarray]) -> Arrays:
        hdmr, components = result
        return {"output": hdmr.intercept_ + components.sum(axis=1)}

    return [
        Contender("ours, whole", "", whole, summary=summary),
        Contender("ours, fit: indices and component functions", "", lambda _: KernelHDMR(model).fit(X)),
    ]
