"""What the command line says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """The options of `python -m bench.paper`."""

    realisations: int = 3
    quick: bool = False
    model: str = "gbr"
