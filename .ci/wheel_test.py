"""Try an installed wheel: what it was built with, a small fit, and the identity tests.

cibuildwheel runs it on each wheel, in a directory with `tests` and without `src`; it needs pytest and hypothesis.
"""

import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor

import fasthdmr

# Forests against their models, components and variances against slow references, the R factor against LAPACK.
IDENTITIES = ["forest", "loaders", "hierarchy", "product_measure", "triangle"]


def main() -> int:
    """Return the exit code."""
    for name, value in fasthdmr.build_config().items():
        print(f"{name}: {value}")
    X, y = fasthdmr.datasets.make_ishigami(1000, random_state=0)
    model = GradientBoostingRegressor(n_estimators=50, max_depth=3, random_state=0).fit(X, y)
    hdmr = fasthdmr.TreeHDMR(model, n_jobs=2).fit(X)
    print(hdmr.sensitivity_)
    assert np.abs(fasthdmr.load_forest(model).predict(X) - model.predict(X)).max() < 1e-10
    assert hdmr.fidelity(X) > 0.9
    tests = Path(__file__).parents[1] / "tests"
    return int(pytest.main(["-q", "-p", "no:cacheprovider", *(str(tests / f"test_{name}.py") for name in IDENTITIES)]))


if __name__ == "__main__":
    sys.exit(main())
