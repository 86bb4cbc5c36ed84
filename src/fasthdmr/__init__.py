"""High Dimensional Model Representation of tree ensembles.

A model f(x) is written as f0 + sum f_i(x_i) + sum f_ij(x_i, x_j) + ..., with hierarchically orthogonal components,
also when the inputs are correlated: what each variable and interaction does, and how much it matters.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fasthdmr import analytic, chisquare, dask, datasets, inspection, kernels, loaders, plotting, salib
    from fasthdmr._batches.batch import Batch
    from fasthdmr._batches.batches import Batches, batches
    from fasthdmr._estimators.decompose import decompose
    from fasthdmr._estimators.hdmr import HDMR
    from fasthdmr._estimators.kernel_hdmr import KernelHDMR
    from fasthdmr._estimators.merging import merge
    from fasthdmr._estimators.saved_hdmr import load_decomposition
    from fasthdmr._estimators.tree_hdmr import TreeHDMR
    from fasthdmr._forest.forest import Forest
    from fasthdmr._results.sensitivity import Sensitivity
    from fasthdmr._support.warnings import (
        ConcurvityWarning,
        ConstantWarning,
        FastHDMRWarning,
        LevelsWarning,
        PairsWarning,
        RankWarning,
        ResidualWarning,
        UnknownLevelsWarning,
        VariablesWarning,
    )
    from fasthdmr.loaders import load_forest, register_loader

__all__ = [
    "HDMR",
    "Batch",
    "Batches",
    "ConcurvityWarning",
    "ConstantWarning",
    "FastHDMRWarning",
    "Forest",
    "KernelHDMR",
    "LevelsWarning",
    "PairsWarning",
    "RankWarning",
    "ResidualWarning",
    "Sensitivity",
    "TreeHDMR",
    "UnknownLevelsWarning",
    "VariablesWarning",
    "analytic",
    "batches",
    "build_config",
    "chisquare",
    "dask",
    "datasets",
    "decompose",
    "inspection",
    "kernels",
    "load_decomposition",
    "load_forest",
    "loaders",
    "merge",
    "plotting",
    "register_loader",
    "salib",
]

__version__ = version("fasthdmr")

# Imported when first used: scikit-learn brings pandas along where it is installed.
_HOMES = {
    "HDMR": "fasthdmr._estimators.hdmr",
    "Batch": "fasthdmr._batches.batch",
    "Batches": "fasthdmr._batches.batches",
    "ConcurvityWarning": "fasthdmr._support.warnings",
    "ConstantWarning": "fasthdmr._support.warnings",
    "FastHDMRWarning": "fasthdmr._support.warnings",
    "Forest": "fasthdmr._forest.forest",
    "KernelHDMR": "fasthdmr._estimators.kernel_hdmr",
    "LevelsWarning": "fasthdmr._support.warnings",
    "PairsWarning": "fasthdmr._support.warnings",
    "VariablesWarning": "fasthdmr._support.warnings",
    "RankWarning": "fasthdmr._support.warnings",
    "ResidualWarning": "fasthdmr._support.warnings",
    "Sensitivity": "fasthdmr._results.sensitivity",
    "TreeHDMR": "fasthdmr._estimators.tree_hdmr",
    "UnknownLevelsWarning": "fasthdmr._support.warnings",
    "batches": "fasthdmr._batches.batches",
    "decompose": "fasthdmr._estimators.decompose",
    "load_decomposition": "fasthdmr._estimators.saved_hdmr",
    "load_forest": "fasthdmr.loaders",
    "merge": "fasthdmr._estimators.merging",
    "register_loader": "fasthdmr.loaders",
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
