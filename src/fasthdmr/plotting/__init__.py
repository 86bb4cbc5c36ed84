"""Pictures of component functions and of sensitivity indices, in the style of scikit-learn's displays."""

from fasthdmr.plotting.components import ComponentDisplay
from fasthdmr.plotting.sensitivity import SensitivityDisplay

__all__ = ["ComponentDisplay", "SensitivityDisplay"]
