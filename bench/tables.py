"""Functions of two variables of few values, as tables, and their exact HDMR under the weights of the cells."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

Parts = tuple[np.ndarray, np.ndarray, np.ndarray]
_ROUNDS = 100_000
_X_VALUES = 50
_NOISE = 0.5  # standard deviation, relative to that of the function
_SECOND_LEVELS = 12


def alternating_means(table: np.ndarray, weight: np.ndarray) -> Parts:
    """Return the main effects of rows and columns, and the interaction, of a table with a number of rows in each cell.

    The main effects are the best additive fit: each is set to the weighted mean of what the other leaves, in turn,
    until nothing changes. Where a line has no weight, its effect is 0; where a cell has none, so is the interaction.
    """
    of_rows, of_columns = weight.sum(axis=1), weight.sum(axis=0)
    share_rows = np.divide(weight, of_rows[:, None], out=np.zeros_like(weight), where=of_rows[:, None] > 0)
    share_columns = np.divide(weight, of_columns, out=np.zeros_like(weight), where=of_columns > 0)
    rest = table - np.vdot(weight, table) / weight.sum()
    mean_rows, mean_columns = (share_rows * rest).sum(axis=1), (share_columns * rest).sum(axis=0)
    rows, columns = np.zeros(len(table)), np.zeros(table.shape[1])
    for _ in range(_ROUNDS):
        rows = mean_rows - share_rows @ columns
        rows = (rows - of_rows @ rows / weight.sum()) * (of_rows > 0)
        moved = mean_columns - share_columns.T @ rows
        moved = (moved - of_columns @ moved / weight.sum()) * (of_columns > 0)
        change, columns = np.abs(moved - columns).max(), moved
        if change <= 1e-15 * np.abs(rest).max():
            break
    return rows, columns, (rest - rows[:, None] - columns) * (weight > 0)


@dataclass(frozen=True)
class Case:
    """A function of two variables: the values of its cells, and the cell of every row of data."""

    name: str
    table: np.ndarray
    i: np.ndarray
    j: np.ndarray
    is_numeric: bool  # whether the second variable is a number
    noise: np.ndarray

    @cached_property
    def weight(self) -> np.ndarray:
        """The number of rows in each cell."""
        return (
            np.bincount(self.i * self.table.shape[1] + self.j, minlength=self.table.size).reshape(self.table.shape)
            * 1.0
        )

    @cached_property
    def X(self) -> Any:
        """The rows as a data frame: text, and text or numbers."""
        import pandas

        second = self.j / (_X_VALUES - 1) if self.is_numeric else [f"heating {k}" for k in self.j]
        return pandas.DataFrame({"city": [f"city {k}" for k in self.i], "second": second})

    @cached_property
    def f(self) -> np.ndarray:
        """The function at the rows."""
        return self.table[self.i, self.j]

    @cached_property
    def y(self) -> np.ndarray:
        """The function at the rows, with noise."""
        return self.f + self.noise

    def of_frame(self, X: Any) -> np.ndarray:
        """Return the function at rows of a data frame."""
        i = X["city"].str.slice(len("city ")).astype(int)
        if self.is_numeric:
            return self.table[i, np.rint(X["second"] * (_X_VALUES - 1)).astype(int)]
        return self.table[i, X["second"].str.slice(len("heating ")).astype(int)]

    def on_rows(self, parts: Parts) -> np.ndarray:
        """Return main effects and interaction at the rows, (N, 3)."""
        rows, columns, cells = parts
        return np.column_stack([rows[self.i], columns[self.j], cells[self.i, self.j]])

    @cached_property
    def exact(self) -> np.ndarray:
        """The components at the rows, (N, 3)."""
        return self.on_rows(alternating_means(self.table, self.weight))


def case(n_levels: int, n_rows: int, *, is_numeric: bool, seed: int = 0) -> Case:
    """Return a case whose first variable has levels of uneven frequency that go with the values of the second."""
    rng = np.random.default_rng(seed)
    frequency = 1 / (10 + np.arange(n_levels))
    i = np.append(np.arange(n_levels), rng.choice(n_levels, n_rows - n_levels, p=frequency / frequency.sum()))
    size = _X_VALUES if is_numeric else _SECOND_LEVELS
    lean = rng.uniform(0.3, 0.7, n_levels)
    j = rng.binomial(size - 1, rng.beta(4 * lean[i], 4 * (1 - lean[i])))
    x = np.arange(size) / (size - 1)
    first, slope = rng.normal(size=n_levels), rng.normal(size=n_levels)
    second = np.sin(2 * np.pi * x) if is_numeric else rng.normal(size=size)
    shape = x - 0.5 if is_numeric else rng.normal(size=size)
    table = first[:, None] + second + slope[:, None] * shape
    name = f"{n_levels} levels x " + ("a number" if is_numeric else f"{size} levels")
    noise = _NOISE * table[i, j].std() * rng.normal(size=n_rows)
    return Case(name, table, i, j, is_numeric, noise)
