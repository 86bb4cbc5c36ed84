"""High Dimensional Model Representation of tree ensembles.

A model f(x) is written as f0 + sum f_i(x_i) + sum f_ij(x_i, x_j) + ..., with hierarchically orthogonal components,
also when the inputs are correlated: what each variable and interaction does, and how much it matters.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fasthdmr import analytic, chisquare, datasets, inspection, kernels, plotting, salib
    from fasthdmr._warnings import (
        ConcurvityWarning,
        ConstantWarning,
        FastHDMRWarning,
        PairsWarning,
        RankWarning,
        ResidualWarning,
    )
    from fasthdmr.columns import decompose
    from fasthdmr.forest import Forest
    from fasthdmr.hdmr import HDMR
    from fasthdmr.kernel_hdmr import KernelHDMR
    from fasthdmr.loaders import load_forest
    from fasthdmr.sensitivity import Sensitivity
    from fasthdmr.tree_hdmr import TreeHDMR

__all__ = [
    "HDMR",
    "ConcurvityWarning",
    "ConstantWarning",
    "FastHDMRWarning",
    "Forest",
    "KernelHDMR",
    "PairsWarning",
    "RankWarning",
    "ResidualWarning",
    "Sensitivity",
    "TreeHDMR",
    "analytic",
    "build_config",
    "chisquare",
    "datasets",
    "decompose",
    "inspection",
    "kernels",
    "load_forest",
    "plotting",
    "salib",
]

__version__ = version("fasthdmr")

# Imported when first used: scikit-learn brings pandas along where it is installed.
_HOMES = {
    "HDMR": "fasthdmr.hdmr",
    "ConcurvityWarning": "fasthdmr._warnings",
    "ConstantWarning": "fasthdmr._warnings",
    "FastHDMRWarning": "fasthdmr._warnings",
    "Forest": "fasthdmr.forest",
    "KernelHDMR": "fasthdmr.kernel_hdmr",
    "PairsWarning": "fasthdmr._warnings",
    "RankWarning": "fasthdmr._warnings",
    "ResidualWarning": "fasthdmr._warnings",
    "Sensitivity": "fasthdmr.sensitivity",
    "TreeHDMR": "fasthdmr.tree_hdmr",
    "decompose": "fasthdmr.columns",
    "load_forest": "fasthdmr.loaders",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in __all__:
        return import_module(f"fasthdmr.{name}")
    raise AttributeError(f"module 'fasthdmr' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def build_config() -> dict[str, Any]:
    """Return how the core was built, the versions it runs with, and the code path chosen for this CPU.

    Returns
    -------
    dict
        "compiler", "cpp_standard", "pybind11", "code_path" ("baseline", "avx2" or "avx512"), and the versions of
        "fasthdmr", "numpy", "scipy", "scikit-learn".

    Examples
    --------
    >>> build_config()["code_path"] in ("baseline", "avx2", "avx512")
    True
    """
    core = import_module("fasthdmr._core")
    versions = {name: version(name) for name in ("fasthdmr", "numpy", "scipy", "scikit-learn")}
    return {**core.build_config(), **versions}
