"""What the command line says."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from bench.models import cache_directory


@dataclass(frozen=True)
class Options:
    """The options of `python -m bench.paper`."""

    realisations: int = 3
    quick: bool = False
    model: str = "gbr"
    out: Path = field(default_factory=cache_directory)
