"""What the command line says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Options:
    """The options of `python -m bench.paper`; None: the item's own default."""

    realisations: int = 3
    quick: bool = False
    model: str = "gbr"
    trees: int | None = None
    repeats: int | None = None
    out: Path = Path("paper-figures")
