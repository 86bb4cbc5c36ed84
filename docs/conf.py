"""How Sphinx builds the documentation: ``python -m sphinx -W -b html docs build/docs``, without a network."""

import importlib.metadata
from typing import Any

project = "fasthdmr"
author = "the fasthdmr developers"
copyright = f"2026, {author}"
release = importlib.metadata.version("fasthdmr")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"]
templates_path = ["_templates"]

html_theme = "furo"
html_title = f"fasthdmr {release}"
html_copy_source = False

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
autodoc_typehints = "none"  # the docstrings say it
numpydoc_show_class_members = False  # autodoc lists them
default_role = "code"  # `name` in a docstring
# |u| in a docstring is the order of a subspace, no substitution of reStructuredText.
rst_epilog = r"""
.. |u| replace:: \|u\|
.. |v| replace:: \|v\|
"""


def leave_out_foreign(app: Any, what: str, name: str, member: object, skip: bool, options: Any) -> bool | None:
    """Leave out what is inherited from scikit-learn: its documentation describes that."""
    return True if str(getattr(member, "__module__", "")).startswith("sklearn.") else None


def setup(app: Any) -> None:
    """Connect to Sphinx."""
    app.connect("autodoc-skip-member", leave_out_foreign)
