"""The result of an item of the paper: its numbers and ours, a verdict on each, and its figures."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

PICTURE = "no number in the paper: picture"
AGREES, DIFFERS = "agrees", "differs"


@dataclass(frozen=True)
class Row:
    """One number or claim of the paper beside ours.

    Attributes
    ----------
    what : str
    ours, paper : float or None
    rule : str
        The criterion of agreement, in words.
    agrees : bool or None
        None: there is nothing to compare with.
    because : str
        The reason for a difference, if known; with `agrees` None, why they cannot be compared.
    """

    what: str
    ours: float | None = None
    paper: float | None = None
    rule: str = ""
    agrees: bool | None = None
    because: str = ""


def near(
    what: str,
    ours: float,
    paper: float | None,
    tolerance: float,
    *,
    target: float | None = None,
    of: str = "the paper's",
    because: str = "",
) -> Row:
    """Return the row of a number that has to be near the paper's, or near a target that `of` names."""
    wanted = paper if target is None else target
    if wanted is None:
        raise ValueError(f"{what}: neither a number of the paper nor a target to compare with.")
    rule = f"within {tolerance:.2g} of {of}" + ("" if target is None else f", {target:.6g}")
    return Row(what, float(ours), paper, rule, bool(abs(ours - wanted) <= tolerance), because)


def claim(what: str, holds: bool, rule: str, *, ours: float | None = None, because: str = "") -> Row:
    """Return the row for a statement of the paper in words."""
    return Row(what, None if ours is None else float(ours), None, rule, bool(holds), because)


@dataclass(frozen=True)
class Result:
    """The result of an item.

    Attributes
    ----------
    rows : list of Row
    figures : list of Path
    cuts : list of str
        Sizes that are smaller than in the paper, so that numbers may differ.
    repeats : list of str
        Repetitions that are fewer than in the paper, which makes tolerances wider.
    notes : list of str
        Remarks for readers of the numbers or figures.
    """

    rows: list[Row] = field(default_factory=list)
    figures: list[Path] = field(default_factory=list)
    cuts: list[str] = field(default_factory=list)
    repeats: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def verdict(self, row: Row) -> str:
        """Return the verdict on a row in words."""
        if row.agrees is None:
            return row.because or PICTURE
        if row.agrees:
            return AGREES
        return f"{DIFFERS}: " + (row.because or ("this run is cut down" if self.cuts else "not explained"))

    def to_json(self, directory: Path) -> dict[str, Any]:
        """Return it in types of JSON, with figures as names of files in the directory."""
        return asdict(self) | {"figures": [path.relative_to(directory).as_posix() for path in self.figures]}

    @classmethod
    def from_json(cls, stored: dict[str, Any], directory: Path) -> Result:
        """Return the result stored by `to_json`."""
        rows = [Row(**row) for row in stored["rows"]]
        figures = [directory / name for name in stored["figures"]]
        return cls(**(stored | {"rows": rows, "figures": figures}))


def fewer(**sizes: tuple[int, int]) -> list[str]:
    """Return in words which sizes are below the paper's.

    Examples
    --------
    >>> fewer(trees=(300, 5000), repeats=(50, 50))
    ['300 trees (paper: 5,000)']
    """
    return [f"{ours:,} {name} (paper: {paper:,})" for name, (ours, paper) in sizes.items() if ours < paper]


def standard_error(deviation: float, count: int) -> float:
    """Return that of a mean."""
    return float(deviation) / math.sqrt(count)
