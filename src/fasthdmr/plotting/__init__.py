"""Pictures of component functions, indices and single predictions, in the style of scikit-learn's displays."""

from importlib import import_module
from typing import Any

from fasthdmr.plotting.components import ComponentDisplay
from fasthdmr.plotting.explanation import WaterfallDisplay
from fasthdmr.plotting.explanations import ExplanationsDisplay
from fasthdmr.plotting.sensitivity import SensitivityDisplay
from fasthdmr.plotting.shapley import BeeswarmDisplay

__all__ = [
    "BeeswarmDisplay",
    "ComponentDisplay",
    "ExplanationsDisplay",
    "OverlayDisplay",
    "SensitivityDisplay",
    "WaterfallDisplay",
]


def __getattr__(name: str) -> Any:
    """Return the display that needs partial dependence, which a later room computes and draws with this one."""
    if name == "OverlayDisplay":
        return import_module("fasthdmr.inspection._overlay").OverlayDisplay
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
