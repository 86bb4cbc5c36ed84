"""The rival diagnostics: what else is said of a model's variables, computed exactly."""

from fasthdmr.inspection._partial_dependence import partial_dependence, partial_dependences

__all__ = ["partial_dependence", "partial_dependences"]
