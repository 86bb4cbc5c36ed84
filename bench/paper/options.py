"""What the command line says."""

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
        """Return what was asked for, else the item's default or its quick one."""
        return self.trees or (quick if self.quick else full)

    def n_repeats(self, full: int, quick: int) -> int:
        """Return what was asked for, else the item's default or its quick one."""
        return self.repeats or (quick if self.quick else full)
