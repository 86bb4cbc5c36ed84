"""Goals of the benchmarks, which `python -m bench --check` compares with the measured figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bench.report import table


@dataclass(frozen=True)
class Goal:
    """A measured figure and its lower or upper limit. If the limit is NaN, there is no goal."""

    what: str
    found: float
    asked: float
    at_least: bool = True

    @property
    def missed(self) -> bool:
        """Whether the figure is beyond its limit, or could not be measured."""
        reached = self.found >= self.asked if self.at_least else self.found <= self.asked
        return not (reached or np.isnan(self.asked))

    def verdict(self) -> str:
        """Return "OK", "MISSED" or "not measured", or "" if there is no goal."""
        if np.isnan(self.asked):
            return ""
        if np.isnan(self.found):
            return "not measured"
        return "MISSED" if self.missed else "OK"

    def cells(self) -> list[str]:
        """Return the goal's line of a table."""
        asked = "" if np.isnan(self.asked) else f"{'>=' if self.at_least else '<='} {self.asked:.4g}"
        return [self.what, self.verdict(), f"{self.found:.4g}", asked]


def at_most(what: str, found: float, asked: float) -> Goal:
    """Return a goal that a figure is not above a limit."""
    return Goal(what, float(found), float(asked), at_least=False)


def goals_table(goals: Sequence[Goal]) -> str:
    """Return a table of limits and measured figures."""
    return table(["goal", "", "found", "asked"], [goal.cells() for goal in goals])


def missed(goals: Mapping[str, Sequence[Goal]]) -> list[Goal]:
    """Return the goals that are missed, each after the name of its problem."""
    return [
        Goal(f"{problem}: {goal.what}", goal.found, goal.asked, goal.at_least)
        for problem, of_problem in goals.items()
        for goal in of_problem
        if goal.missed
    ]


def judgement(goals: Mapping[str, Sequence[Goal]]) -> str:
    """Return how many goals are reached, and a table of those that are not."""
    asked = sum(bool(goal.verdict()) for of_problem in goals.values() for goal in of_problem)
    not_reached = missed(goals)
    text = f"check: {asked - len(not_reached)} of {asked} goals reached"
    return f"{text}\n\n{goals_table(not_reached)}" if not_reached else text
