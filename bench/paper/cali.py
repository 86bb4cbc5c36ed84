"""Table cali: California housing from gradient boosting of depth 1, 2, 3, 5,000 trees each."""

from __future__ import annotations

import numpy as np

from bench.paper import housing
from bench.paper.options import Options
from bench.paper.result import Result, Row, near
from bench.report import machine, table
from fasthdmr import Sensitivity
from fasthdmr._support.subspaces import Subspace, subspace_names
from fasthdmr.inspection import tree_importance

EPSILON = 0.01

# Sa, Sb, S of the rows that reach epsilon.
PAPER = {
    "MedInc": (0.1346, 0.1228, 0.2574),
    "AveRooms": (0.0305, 0.0243, 0.0548),
    "AveOccup": (0.0390, 0.0168, 0.0557),
    "Latitude": (0.7003, -0.5356, 0.1646),
    "Longitude": (0.6585, -0.5218, 0.1367),
    "HouseAge & AveOccup": (0.0069, 0.0081, 0.0150),
    "AveOccup & Longitude": (0.0066, 0.0046, 0.0112),
    "Latitude & Longitude": (0.0563, 0.0168, 0.0732),
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
    "Latitude & Longitude": (0.0482, 0.0210),
}


PAPER_TREE = (0.1240, 0.0612, 0.1322, 0.0839, 0.0803, 0.1475, 0.1650, 0.2058)
TOLERANCE, TREE_TOLERANCE = 0.02, 0.03
FIVE = ("Sa", "Sb", "S", "T", "R")
SHALLOW = "what depths 1 and 2 alone give"
NOTES = [
    "Tolerance: the lesser of 0.02 and a third of the paper's number; 0.06 for sums.",
    "The paper does not say which GBR its column “Tree” is of; that of depth 2 fits best.",
]


def verdict(
    what: str, ours: float, paper: float, limit: float, others: dict[str, float], prototype: float | None = None
) -> Row:
    """Return the verdict; if ours differs from the paper, name a number of the table close to one of them.

    Parameters
    ----------
    what : str
    ours, paper, limit : float
    others : dict
        What else the paper's could be, by its name.
    prototype : float or None
        The same number of an independent prototype.
    """
    fitting = [
        f"the paper's is near {name}, {value:.4f}" for name, value in others.items() if abs(value - paper) <= limit
    ]
    if prototype is not None and abs(ours - prototype) <= limit:
        fitting.insert(0, f"ours is as an independent prototype's, {prototype:.4f}, of today's scikit-learn's trees")
    return near(what, ours, paper, limit, because=fitting[0] if fitting else "")


def tolerance(paper: float) -> float:
    """Return the tolerance of a number, which is smaller for small numbers."""
    return min(TOLERANCE, abs(paper) / 3)


def numbers(indices: Sensitivity, u: Subspace) -> tuple[float, ...]:
    """Return Sa, Sb, S of a subspace, 0 if there is no component, and T, R of a variable."""
    c = indices.subspaces.index(u) if u in indices.subspaces else None
    own = (0.0, 0.0, 0.0) if c is None else (indices.Sa[c], indices.Sb[c], indices.S[c])
    return (*own, indices.ST[u[0]], indices.R[u[0]]) if len(u) == 1 else own


def verdicts(name: str, ours: tuple[float, ...], shallow: tuple[float, ...]) -> list[Row]:
    """Return the verdicts on the numbers of the paper for a subspace."""
    rows = []
    for k, paper in enumerate(PAPER.get(name, ())[:2]):
        known = PROTOTYPE[name][k] if name in PROTOTYPE else None
        rows.append(verdict(f"{FIVE[k]} of {name}", ours[k], paper, tolerance(paper), {SHALLOW: shallow[k]}, known))
    for k, paper in enumerate(PAPER_TOTALS.get(name, ()), 3):
        rows.append(verdict(f"{FIVE[k]} of {name}", ours[k], paper, tolerance(paper), {SHALLOW: shallow[k]}))
    return rows


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
    shallow = housing.hdmr_of(data.models[:2], data.X, data.y).sensitivity_
    rows, result = [], Result(cuts=cuts, notes=NOTES)
    for u in found.subspaces:
        name, ours = subspace_names([u], names)[0], numbers(found, u)
        if len(u) == 1 or ours[2] >= EPSILON or name in PAPER:
            rows.append(line(name, ours))
            result.rows.extend(verdicts(name, ours, numbers(shallow, u)))
    sums, shallow_sums = (
        tuple(float(np.sum(values)) for values in (of.Sa, of.Sb, of.S, of.ST, of.R)) for of in (found, shallow)
    )
    shown = [float(values[found.S >= EPSILON].sum()) for values in (found.Sa, found.Sb, found.S)]
    rows.append(["all components", "", *cells(sums, 5), *cells(PAPER_SUMS, 5), "", ""])
    print(f"cali: {n_trees} trees each, penalty {housing.ALPHA:g}, {len(found.subspaces)} components, over Var(y);")
    print(f"rows: variables, S >= {EPSILON}, and the paper's; residual {float(found.residual):.1e}")
    print(machine())
    header = ["subspace", "", *FIVE, *(f"paper {name}" for name in FIVE), "prototype Sa", "Sb"]
    print(table(header, rows))
    for k, index in enumerate(FIVE[:4]):
        others = {SHALLOW: shallow_sums[k]} | ({f"our sum of rows with S ≥ {EPSILON:g}": shown[k]} if k < 3 else {})
        # About eight numbers make up a sum: the tolerance of one times the square root of 8.
        result.rows.append(verdict(f"sum of {index}", sums[k], PAPER_SUMS[k], 3 * TOLERANCE, others))
    for name, importance, paper in zip(names, tree_importance(data.models[1]), PAPER_TREE, strict=True):
        result.rows.append(near(f"Tree of {name}, GBR of depth 2", importance, paper, TREE_TOLERANCE))
    return result
