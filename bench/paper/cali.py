"""Table cali: California housing from gradient boosting of depth 1, 2, 3, 5,000 trees each."""

from __future__ import annotations

import numpy as np

from bench.paper import housing
from bench.paper.options import Options
from bench.paper.result import Result, Row, near
from bench.report import machine, table
from fasthdmr.inspection import tree_importance

EPSILON = 0.01

# Sa, Sb, S of the rows that reach epsilon.
PAPER = {
    "MedInc": (0.1346, 0.1228, 0.2574),
    "AveRooms": (0.0305, 0.0243, 0.0548),
    "AveOccup": (0.0390, 0.0168, 0.0557),
    "Latitude": (0.7003, -0.5356, 0.1646),
    "Longitude": (0.6585, -0.5218, 0.1367),
    "HouseAge AveOccup": (0.0069, 0.0081, 0.0150),
    "AveOccup Longitude": (0.0066, 0.0046, 0.0112),
    "Latitude Longitude": (0.0563, 0.0168, 0.0732),
}
# T and R of the variables, and the importance by trees.
PAPER_TOTALS = {
    "MedInc": (0.3151, 0.2637),
    "HouseAge": (0.0377, 0.0315),
    "AveRooms": (0.0966, 0.0808),
    "AveBedrms": (0.0310, 0.0259),
    "Population": (0.0145, 0.0121),
    "AveOccup": (0.1310, 0.1096),
    "Latitude": (0.2880, 0.2411),
    "Longitude": (0.2810, 0.2352),
}
PAPER_SUMS = (1.6374, -0.8562, 0.7813, 1.1948, 1.0)
# The prototype's Sa, Sb (337 columns, penalty to 0; spec 10).
PROTOTYPE = {
    "MedInc": (0.1512, 0.1216),
    "AveRooms": (0.0250, 0.0264),
    "AveOccup": (0.0338, 0.0184),
    "Latitude": (0.7668, -0.5996),
    "Longitude": (0.7206, -0.5876),
    "Latitude Longitude": (0.0482, 0.0210),
}


PAPER_TREE = (0.1240, 0.0612, 0.1322, 0.0839, 0.0803, 0.1475, 0.1650, 0.2058)
TOLERANCE, TREE_TOLERANCE = 0.02, 0.03


def verdict(name: str, index: str, ours: float, paper: float, prototype: float | None = None) -> Row:
    """Return the verdict; where ours is off the paper's, whether it is near the prototype's of the same method."""
    because = ""
    if prototype is not None and abs(ours - prototype) <= TOLERANCE:
        because = f"as an independent prototype of the method is, {prototype:.4f}; its trees are today's scikit-learn's"
    return near(f"{index} of {name}", ours, paper, TOLERANCE, because=because)


def verdicts(name: str, ours: tuple[float, ...]) -> list[Row]:
    """Return the verdicts on what the paper prints of a subspace."""
    prototype = PROTOTYPE.get(name, (None, None))
    rows = [
        verdict(name, index, value, paper, known)
        for index, value, paper, known in zip(("Sa", "Sb"), ours, PAPER.get(name, ()), prototype, strict=False)
    ]
    totals = zip(("T", "R"), ours[3:], PAPER_TOTALS.get(name, ()), strict=False)
    return rows + [verdict(name, index, value, paper) for index, value, paper in totals]


def cells(values: tuple[float, ...], width: int) -> list[str]:
    """Return numbers as text, filled up with blanks."""
    return [f"{value:.4f}" for value in values] + [""] * (width - len(values))


def line(name: str, ours: tuple[float, ...]) -> list[str]:
    """Return the row of a subspace: ours, the paper's, the prototype's."""
    paper = cells(PAPER.get(name, ()), 3) + cells(PAPER_TOTALS.get(name, ()), 2)
    return [name, "", *cells(ours, 5), *paper, *cells(PROTOTYPE.get(name, ()), 2)]


def run(options: Options) -> Result:
    """Print the table."""
    n_trees, cuts = housing.size(options)
    data = housing.decomposed(n_trees)
    names, found = data.names, data.hdmr.sensitivity_
    rows, result = [], Result(cuts=cuts)
    for u, Sa, Sb, S in zip(found.subspaces, found.Sa, found.Sb, found.S, strict=True):
        name = " ".join(names[i] for i in u)
        totals = (found.ST[u[0]], found.R[u[0]]) if len(u) == 1 else ()
        if len(u) == 1 or S >= EPSILON or name in PAPER:
            rows.append(line(name, (Sa, Sb, S, *totals)))
            result.rows.extend(verdicts(name, (Sa, Sb, S, *totals)))
    sums = tuple(float(np.sum(values)) for values in (found.Sa, found.Sb, found.S, found.ST, found.R))
    rows.append(["all components", "", *cells(sums, 5), *cells(PAPER_SUMS, 5), "", ""])
    print(f"cali: {n_trees} trees each, penalty {housing.ALPHA:g}, {len(found.subspaces)} components, over Var(y);")
    print(f"rows: variables, S >= {EPSILON}, and the paper's; residual {float(found.residual):.1e}")
    print(machine())
    five = ["Sa", "Sb", "S", "T", "R"]
    header = ["subspace", "", *five, *(f"paper {name}" for name in five), "prototype Sa", "Sb"]
    print(table(header, rows))
    for index, ours, paper in zip(five[:4], sums, PAPER_SUMS, strict=False):
        # Sums of 8 to 200 numbers: the tolerance of one times the square root of 8.
        result.rows.append(near(f"sum of {index}", ours, paper, 3 * TOLERANCE))
    for name, ours, paper in zip(names, tree_importance(data.models[-1]), PAPER_TREE, strict=True):
        result.rows.append(near(f"Tree of {name}", ours, paper, TREE_TOLERANCE))
    return result
