"""Every item in one run, which can be resumed, and the page that shows them."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import platform
import time
import traceback
import warnings
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy
import scipy
import sklearn

import bench
import fasthdmr
from bench.paper.items import ITEMS, SAME, Item
from bench.paper.options import Options
from bench.paper.page import page
from bench.paper.result import Result
from fasthdmr._support.optional import require
from fasthdmr._support.output_file import write_files

FIGURES, STORE, PAGE = "figures", "results", "index.html"


@dataclass(frozen=True)
class Outcome:
    """The outcome of an item: its result and its output, or its error."""

    name: str
    title: str
    seconds: float
    result: Result | None = None
    printed: str = ""
    error: str = ""


def run_all(options: Options, names: Iterable[str] | None = None) -> list[Outcome]:
    """Compute all missing items, and write the page; show the progress.

    Parameters
    ----------
    options : Options
        Into its directory `out` go the page, figures/ and results/.
    names : iterable of str, optional
        Which items; default: all.

    Returns
    -------
    list of Outcome

    Raises
    ------
    ImportError
        If tqdm is missing.
    """
    tqdm = require("tqdm", extra="bench").tqdm
    chosen = [name for name in names or ITEMS if name not in SAME]
    made_by = code_and_options(options)
    outcomes: list[Outcome] = []
    with tqdm(chosen, unit="item") as bar:
        for name in bar:
            bar.set_description(name)
            outcome = stored(name, made_by, options.out)
            if outcome is None:
                outcome = make(name, ITEMS[name], options)
                if outcome.result is not None:
                    store(outcome, made_by, options.out)
            outcomes.append(outcome)
            # After each item, so that an interrupted run leaves a page of the finished ones.
            write_files({options.out / PAGE: page(outcomes, options, len(chosen)).encode()})
    return outcomes


def make(name: str, item: Item, options: Options) -> Outcome:
    """Run an item; after an error, the others still run."""
    printed, started = io.StringIO(), time.perf_counter()
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(printed):
        warnings.simplefilter("default")
        try:
            result = item.run(replace(options, out=options.out / FIGURES))
        except Exception:
            seconds = time.perf_counter() - started
            return Outcome(name, title_of(name), seconds, None, printed.getvalue(), traceback.format_exc())
    notes = [f"Warning: {warning.message}" for warning in caught]
    result = replace(result, notes=result.notes + notes)
    lines = [line for line in printed.getvalue().splitlines() if not line.startswith("figure: ")]
    return Outcome(name, title_of(name), time.perf_counter() - started, result, "\n".join(lines))


def title_of(name: str) -> str:
    """Return the title of an item, with those of the items that it makes too."""
    return ". ".join([ITEMS[name].title, *(ITEMS[other].title for other, by in SAME.items() if by == name)])


def code_and_options(options: Options) -> dict[str, Any]:
    """Return everything that a result depends on: options, versions, and a digest of the code."""
    digest = hashlib.sha256()
    for root in (Path(bench.__file__).parent, Path(fasthdmr.__file__).parent):
        for path in sorted(root.rglob("*")):
            if path.suffix in (".py", ".so", ".pyd"):
                digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    versions = {module.__name__: module.__version__ for module in (numpy, scipy, sklearn)}
    given = {name: value for name, value in asdict(options).items() if name != "out"}
    return {"options": given, "versions": versions | {"python": platform.python_version()}, "code": digest.hexdigest()}


def store(outcome: Outcome, made_by: dict[str, Any], out: Path) -> None:
    """Store a finished item."""
    assert outcome.result is not None
    content = {"made_by": made_by, "seconds": outcome.seconds, "printed": outcome.printed}
    content["result"] = outcome.result.to_json(out)
    write_files({out / STORE / f"{outcome.name}.json": json.dumps(content, indent=1).encode()})


def stored(name: str, made_by: dict[str, Any], out: Path) -> Outcome | None:
    """Return a stored item with all its figures, if the same code made it with the same options."""
    path = out / STORE / f"{name}.json"
    if not path.is_file():
        return None
    content = json.loads(path.read_text(encoding="utf-8"))
    if content["made_by"] != made_by:
        return None
    result = Result.from_json(content["result"], out)
    if not all(figure.is_file() for figure in result.figures):
        return None
    return Outcome(name, title_of(name), content["seconds"], result, content["printed"])
