"""How Sphinx builds the documentation: ``python -m sphinx -W -b html docs build/docs``, without a network."""

import importlib.metadata
import sys
from pathlib import Path
from typing import Any

import fasthdmr

ROOT = Path(__file__).resolve().parents[1]

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
autodoc_typehints = "none"  # the docstrings have the types
numpydoc_show_class_members = False  # autodoc lists them
default_role = "code"  # `name` in a docstring
# |u| in a docstring is the order of a subspace, no substitution of reStructuredText.
rst_epilog = r"""
.. |u| replace:: \|u\|
.. |v| replace:: \|v\|
"""


def leave_out_foreign(app: Any, what: str, name: str, member: object, skip: bool, options: Any) -> bool | None:
    """Omit members inherited from scikit-learn, which documents them."""
    return True if str(getattr(member, "__module__", "")).startswith("sklearn.") else None


def draw_rooms(app: Any) -> None:
    """Draw the rooms of the core and of the package that is documented."""
    sys.path.insert(0, str(ROOT / "tools"))
    import rooms
    import rooms_picture

    codebases = [rooms.core(ROOT / "csrc" / "core"), rooms.python(Path(fasthdmr.__file__).parent)]
    picture = ROOT / "docs" / "generated" / "rooms.svg"
    picture.parent.mkdir(exist_ok=True)
    rooms_picture.draw(codebases, picture)


def draw_pictures(app: Any) -> None:
    """Draw the pictures of pages by their own code."""
    sys.path.insert(0, str(ROOT / "docs"))
    import pictures

    pictures.draw(ROOT / "docs", ROOT / "docs" / "generated")


def setup(app: Any) -> None:
    """Connect to Sphinx."""
    app.connect("autodoc-skip-member", leave_out_foreign)
    app.connect("builder-inited", draw_rooms)
    app.connect("builder-inited", draw_pictures)
