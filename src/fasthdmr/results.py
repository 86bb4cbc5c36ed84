"""The results of estimators: decompositions, components, sensitivity indices and explanations of rows."""

from fasthdmr._results.component import Component
from fasthdmr._results.decomposition import Decomposition
from fasthdmr._results.explanation import Explanation
from fasthdmr._results.explanations import Explanations
from fasthdmr._results.fourier import FourierSeries
from fasthdmr._results.sensitivity import Sensitivity
from fasthdmr._results.summary import Summary
from fasthdmr._support.table import Table

__all__ = [
    "Component",
    "Decomposition",
    "Explanation",
    "Explanations",
    "FourierSeries",
    "Sensitivity",
    "Summary",
    "Table",
]
