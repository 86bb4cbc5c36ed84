"""Pictures of component functions, indices and single predictions, in the style of scikit-learn's displays."""

from fasthdmr.plotting.components import ComponentDisplay
from fasthdmr.plotting.explanation import WaterfallDisplay
from fasthdmr.plotting.sensitivity import SensitivityDisplay
from fasthdmr.plotting.shapley import BeeswarmDisplay

__all__ = ["BeeswarmDisplay", "ComponentDisplay", "SensitivityDisplay", "WaterfallDisplay"]
