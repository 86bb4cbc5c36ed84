"""A decomposition as one self-contained HTML page."""

from __future__ import annotations

import base64
import hashlib
import platform
from collections.abc import Callable, Mapping, Sequence
from html import escape
from importlib.metadata import version
from importlib.resources import files
from string import Template
from typing import Any

from fasthdmr._cli.belief import belief
from fasthdmr._cli.report_pictures import figures
from fasthdmr._cli.report_tables import index_tables, level_tables
from fasthdmr._cli.tables import of_outputs, output_name
from fasthdmr._support.text import escaped

LEVEL = 0.01
"""Subspaces with smaller indices are folded."""

_PACKAGES = ("fasthdmr", "numpy", "scipy", "scikit-learn", "matplotlib")


def render(
    hdmr: Any,
    title: str,
    *,
    fidelity: Sequence[float],
    facts: Mapping[str, Any],
    options: Mapping[str, Any],
    warnings: Callable[[], Sequence[str]],
    scores: Mapping[str, str] | None = None,
    levels: Any = None,
    outputs: Sequence[int] | None = None,
    level: float = LEVEL,
) -> str:
    """Return the page.

    Parameters
    ----------
    hdmr : estimator, fitted
    title : str
    fidelity : sequence of float
        R² of the components against the model, for each output.
    facts : mapping of str to value
        Properties of the model and the data.
    options : mapping of str to value
        The options of the decomposition.
    warnings : callable
        Returns the lines of warnings; called at the end, since drawing may raise warnings.
    scores : mapping of str to str, optional
        R² and accuracies.
    levels : DataFrame, optional
        The result of `level_effects`.
    outputs : sequence of int, optional
        The outputs to show; default: all.
    level : float
        Subspaces with smaller indices are folded.

    Returns
    -------
    str
        HTML. All text that is passed here, and all names of variables and outputs, are escaped.

    Examples
    --------
    >>> import fasthdmr
    >>> X, y = fasthdmr.datasets.make_ishigami(200, random_state=0)
    >>> hdmr = fasthdmr.TreeHDMR(smooth=False, random_state=0).fit(X, y)
    >>> page = render(hdmr, "Ishigami & co", fidelity=[0.9], facts={}, options={"order": 2}, warnings=list)
    >>> "<h1>Ishigami &amp; co</h1>" in page
    True
    """
    style, script = _asset("_report.css"), _asset("_report.js")
    # A second line of defence: even a name that is not escaped could neither run nor load anything.
    policy = f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; script-src '{_hash(script)}'"
    versions = {name: version(name) for name in _PACKAGES} | {"Python": platform.python_version()}
    shown = range(hdmr.sensitivity_.n_outputs) if outputs is None else outputs
    sections = "\n".join(_output(hdmr, k, levels, level) for k in shown)
    return Template(_asset("_report.html")).substitute(
        policy=policy,
        title=escape(title),
        style=style,
        script=script,
        belief="\n".join(_belief(hdmr, k, fidelity[k]) for k in shown),
        scores=_definitions(scores or {}),
        warnings=_list(warnings()),
        outputs=sections,
        facts=_definitions(facts),
        options=_definitions(options),
        versions=_definitions(versions),
    )


def _asset(name: str) -> str:
    return files("fasthdmr._cli").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return the hash that allows an inline script or style in a content security policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _definitions(entries: Mapping[str, Any]) -> str:
    if not entries:
        return ""
    pairs = [f"<dt>{escape(name)}</dt><dd>{escape(escaped(str(value)))}</dd>" for name, value in entries.items()]
    return "<dl>\n" + "\n".join(pairs) + "\n</dl>"


def _list(lines: Sequence[str]) -> str:
    if not lines:
        return "<p>There were no warnings.</p>"
    return "<ul>" + "".join(f"\n<li>{escape(line)}</li>" for line in lines) + "\n</ul>"


def _belief(hdmr: Any, output: int, fidelity: float) -> str:
    """Return the sentences on one output, under its name if there are several."""
    indices = hdmr.sensitivity_
    name = f"<h3>{escape(escaped(output_name(indices, output)))}</h3>\n" if indices.n_outputs > 1 else ""
    return name + "\n".join(f"<p>{escape(escaped(line))}</p>" for line in belief(hdmr, output, fidelity))


def _output(hdmr: Any, output: int, levels: Any, level: float) -> str:
    """Return the tables and the pictures of one output."""
    indices, of_what = hdmr.sensitivity_, ""
    if indices.n_outputs > 1:
        of_what = escape(f" of {escaped(output_name(indices, output))}")
    own = None if levels is None else of_outputs(levels, indices, [output])
    return "\n".join(
        [
            f"<section>\n<h2>Indices{of_what}</h2>",
            '<p class="script">Click on a column heading to sort by it.</p>',
            index_tables(indices, output, level),
            f"</section>\n<section>\n<h2>Pictures{of_what}</h2>",
            '<p class="script">Values are below a picture while the pointer is on it.</p>',
            *figures(hdmr, output, level),
            "</section>",
            *level_tables(own, hdmr.decomposition_.unit, of_what),
        ]
    )
