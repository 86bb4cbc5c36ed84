"""The page of all items: numbers of the paper and ours, verdicts, and figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from bench.paper.options import Options
from bench.paper.result import AGREES, DIFFERS, Result, Row
from bench.report import machine

if TYPE_CHECKING:
    from bench.paper.everything import Outcome

MOST_OPEN = 16  # rows of a table that is not folded
OTHER = "no number"
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; max-width: 68rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; font-size: .85rem; margin: .8rem 0 }
th, td { text-align: left; padding: .2rem .7rem; border-bottom: 1px solid #ddd; vertical-align: top }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
.agrees { color: #00674f } .differs, .failed { color: #a33b00 } .other { color: #666 }
img { max-width: 100%; max-height: 36rem; display: block; margin: 1rem 0 }
pre { overflow-x: auto; background: #f6f6f6; padding: .6rem; font-size: .75rem }
h2 { margin-top: 3rem; border-top: 2px solid #ddd; padding-top: 1rem }
"""
LEAD = """
<p>Every table and figure of the paper “High Dimensional Model Representation as a Glass Box in Supervised Machine
Learning” (Bastian and Rabitz), made again with fasthdmr. High dimensional model representation (HDMR) writes a
function of many variables as a constant plus what each variable does alone, plus what pairs do beyond that, and so on,
also when variables are correlated. S<sub>u</sub> is the share of the variance that the variables u explain; it is the
sum of a structural part, S<sup>a</sup>, and a correlative part, S<sup>b</sup>, which may be negative. T is the sum of S
over all terms with a variable, R its share of all T.</p>
<p>A row has one number or claim of the paper (in “…” its own words), ours, the rule by which both agree, and the
verdict. The rules are in the code and can fail; a few tolerances, and which of two readings of the paper is compared,
were settled after a first run, and the notes of those items say so. <b>agrees</b>: the rule is met. <b>differs</b>: it
is not, and why, as far as is known; “this run is cut down” is no explanation, only the first thing to change. Where
the paper has no number, a rule may hold ours against an exact or independently computed value, which it then names;
where there is none either, look at the picture.</p>
"""


def page(outcomes: Sequence[Outcome], options: Options, n_items: int) -> str:
    """Return the page as HTML, its pictures linked by their paths relative to it.

    Parameters
    ----------
    outcomes : sequence of Outcome
    options : Options
    n_items : int
        How many items a whole run has.
    """
    missing = n_items - len(outcomes)
    state = f"<p><b>{missing} of {n_items} items are not made yet.</b> Run the command again.</p>" if missing else ""
    quick = (
        "<p><b>A quick run</b>: what is smaller than in the paper is said at each item.</p>" if options.quick else ""
    )
    parts = [
        f"<!doctype html>\n<html lang='en'><meta charset='utf-8'><title>The paper again</title><style>{STYLE}</style>",
        f"<h1>The paper's tables and figures again</h1>{LEAD}{state}{quick}<p>{escape(machine())}</p>",
        _summary(outcomes),
        *(_section(outcome, options) for outcome in outcomes),
        "</html>\n",
    ]
    return "\n".join(parts)


def counts(result: Result) -> Counter[str]:
    """Return how many rows agree, differ, or have nothing to compare with."""
    return Counter(_kind(row) for row in result.rows)


def _kind(row: Row) -> str:
    return OTHER if row.agrees is None else AGREES if row.agrees else DIFFERS


def _summary(outcomes: Sequence[Outcome]) -> str:
    lines = []
    for outcome in outcomes:
        name = f"<a href='#{outcome.name}'>{outcome.name}</a>"
        if outcome.result is None:
            cells = "<td colspan='3' class='failed'>failed</td>"
        else:
            found = counts(outcome.result)
            cells = "".join(f"<td class='number'>{found[kind] or ''}</td>" for kind in (AGREES, DIFFERS, OTHER))
        seconds = f"<td class='number'>{outcome.seconds:.0f}</td>"
        lines.append(f"<tr><td>{name}</td><td>{escape(outcome.title)}</td>{cells}{seconds}</tr>")
    heads = "".join(f"<th>{head}</th>" for head in ("item", "what it shows", AGREES, DIFFERS, OTHER, "seconds"))
    return f"<table><tr>{heads}</tr>{''.join(lines)}</table>"


def _section(outcome: Outcome, options: Options) -> str:
    head = f"<h2 id='{outcome.name}'>{outcome.name}: {escape(outcome.title)}</h2>"
    if outcome.result is None:
        return f"{head}<p class='failed'>This item failed.</p><pre>{escape(outcome.error)}</pre>"
    result = outcome.result
    parts = [head]
    if result.cuts:
        parts.append(f"<p>Cut down, so that numbers may be off: {escape('; '.join(result.cuts))}.</p>")
    if result.repeats:
        parts.append(f"<p>Repeated less often, with wider tolerances: {escape('; '.join(result.repeats))}.</p>")
    for path in result.figures:
        link = escape(path.relative_to(options.out).as_posix())
        parts.append(f"<a href='{link}'><img src='{link}' alt='{escape(outcome.title)}' loading='lazy'></a>")
    if result.rows:
        parts.append(_table(result))
    else:
        parts.append("<p>There is no number in the paper: picture.</p>")
    parts += [f"<p>{escape(note)}</p>" for note in result.notes]
    parts.append(f"<details><summary>What it prints</summary><pre>{escape(outcome.printed)}</pre></details>")
    return "\n".join(parts)


def _table(result: Result) -> str:
    heads = "".join(f"<th>{head}</th>" for head in ("what", "paper", "ours", "agree if", "verdict"))
    lines = "".join(_line(result, row) for row in result.rows)
    table = f"<table><tr>{heads}</tr>{lines}</table>"
    if len(result.rows) <= MOST_OPEN:
        return table
    found = ", ".join(f"{count} {kind}" for kind, count in counts(result).items())
    return f"<details><summary>{len(result.rows)} rows: {found}</summary>{table}</details>"


def _line(result: Result, row: Row) -> str:
    kind = _kind(row)
    cells = [
        f"<td>{escape(row.what)}</td>",
        *(f"<td class='number'>{'' if value is None else f'{value:.5g}'}</td>" for value in (row.paper, row.ours)),
        f"<td>{escape(row.rule)}</td>",
        f"<td class='{'other' if kind == OTHER else kind}'>{escape(result.verdict(row))}</td>",
    ]
    return f"<tr>{''.join(cells)}</tr>"
