"""The options of the command line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Options:
    """The options of `python -m bench.paper`; None: the item's own default."""

    realisations: int = 3
    quick: bool = False
    trees: int | None = None
    repeats: int | None = None
    out: Path = Path("paper-figures")

    def n_trees(self, full: int, quick: int) -> int:
        """Return the given value, else the item's default or, for a quick run, its quick default."""
        return self.trees or (quick if self.quick else full)

    def n_repeats(self, full: int, quick: int) -> int:
        """Return the given value, else the item's default or, for a quick run, its quick default."""
        return self.repeats or (quick if self.quick else full)
