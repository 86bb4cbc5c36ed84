"""The null contender, which measures the overhead of the harness."""

from __future__ import annotations

from bench.runner import Contender


def contenders(stages: list[str]) -> list[Contender]:
    """Return a contender for each stage that does nothing."""
    return [Contender("null", stage, run=lambda prepared: None) for stage in stages]
