"""Other diagnostics of a model's variables, to compare with an HDMR: partial dependence, DGSM, tree importance."""

from fasthdmr.inspection._dgsm import DGSM, dgsm
from fasthdmr.inspection._partial_dependence import partial_dependence, partial_dependences
from fasthdmr.inspection._pd_sensitivity import pd_sensitivity
from fasthdmr.inspection._tree_importance import tree_importance

__all__ = ["DGSM", "dgsm", "partial_dependence", "partial_dependences", "pd_sensitivity", "tree_importance"]
