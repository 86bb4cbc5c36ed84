"""The results of estimators: decompositions, components, sensitivity indices and explanations of single rows."""

from fasthdmr._results.component import Component
from fasthdmr._results.decomposition import Decomposition
from fasthdmr._results.explanation import Explanation
from fasthdmr._results.fourier import FourierSeries
from fasthdmr._results.sensitivity import Sensitivity

__all__ = ["Component", "Decomposition", "Explanation", "FourierSeries", "Sensitivity"]
