"""What to read first of a decomposition: fidelity, the strongest components, the residual, and warnings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fasthdmr._results.fidelity import fidelity_line, used_fidelity
from fasthdmr._support.outputs import quantity, with_unit
from fasthdmr._support.shown import Shown, ShownInNotebooks
from fasthdmr._support.subspaces import distinct
from fasthdmr._support.table import Table
from fasthdmr._support.text import escaped
from fasthdmr._support.typing import Floats

_STRONGEST = 10


@dataclass(frozen=True, eq=False, repr=False)
class Summary(ShownInNotebooks):
    """What to read first of a decomposition. Print it, or show it in a notebook.

    Attributes
    ----------
    title : str
        The estimator, what is decomposed, and the numbers of variables and components.
    output_names : tuple of str, length K, or None
        None for one output. Its arrays have no axis of outputs.
    unit : str
        What f_0, components and residual are, such as "log-odds"; "" in the units of the target, or not known.
    fidelity : float or ndarray of float64, shape (K,), or None
        R² of f_0 plus the components against the black box, at the rows that were used. None if no rows are kept, or
        the measure is not that of the rows.
    fidelity_unused : float or ndarray of float64, shape (K,), or None
        Leave-one-out R². None without spline or bin spans.
    residual : float or ndarray of float64, shape (K,)
        The variance share of the residual, Cov(r, f) / V.
    components : tuple of Table, length K
        The components by decreasing magnitude of S, for each output. Columns names, order, S and, if there are
        intervals, S_conf.
    warnings : tuple of str
        The messages of the warnings that were given in `fit`.

    Examples
    --------
    >>> import numpy as np
    >>> import fasthdmr
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(2000, 2))
    >>> summary = fasthdmr.HDMR(lambda X: X[:, 0] + X[:, 0] * X[:, 1]).fit(X).summary()
    >>> summary.components[0]["names"].tolist()
    ['x0', 'x0 & x1', 'x1']
    >>> bool(summary.fidelity > 0.999), summary.warnings
    (True, ())
    """

    title: str
    output_names: tuple[str, ...] | None
    unit: str
    fidelity: float | Floats | None
    fidelity_unused: float | Floats | None
    residual: float | Floats
    components: tuple[Table, ...]
    warnings: tuple[str, ...] = ()

    def _shown(self) -> list[Shown]:
        if self.output_names is None:
            tables = [self._table(0, self.title)]
        else:
            names = distinct(self.output_names)
            tables = [Shown((), (), title=self.title)]
            tables += [self._table(k, with_unit(f"Output {name}", self.unit)) for k, name in enumerate(names)]
        if not self.warnings:
            return [*tables, Shown((), (), remarks=["No warnings were given."])]
        remarks = [f"- {escaped(text)}" for text in self.warnings]
        return [*tables, Shown((), (), title="Warnings that were given", remarks=remarks)]

    def _table(self, output: int, title: str) -> Shown:
        """Return the table of the strongest components of one output."""
        components = self.components[output]
        strongest, weaker = components[:_STRONGEST], components[_STRONGEST:]
        has_intervals = "S_conf" in components.columns
        rows = [(name, order, (S, *conf) if has_intervals else S) for name, order, S, *conf in strongest]

        def foot(S: float) -> Any:
            return (S, None) if has_intervals else S

        footer = [(f"{len(weaker)} weaker", None, foot(float(weaker["S"].sum())))] if len(weaker) else []
        footer.append(("Residual", None, foot(float(np.atleast_1d(self.residual)[output]))))
        remarks = []
        if self.fidelity is not None:
            unused = None if self.fidelity_unused is None else float(np.atleast_1d(self.fidelity_unused)[output])
            remarks = [fidelity_line(float(np.atleast_1d(self.fidelity)[output]), unused)]
        return Shown(("Component", "Order", "S"), rows, footer, title=title, remarks=remarks, bar="S")


def summarise(decomposition: Any, name: str) -> Summary:
    """Return the summary of a decomposition.

    Parameters
    ----------
    decomposition : Decomposition
    name : str
        What made it, such as the name of a class.
    """
    sensitivity, one = decomposition.sensitivity, decomposition.output_names is None
    used, fidelity = used_fidelity(decomposition), sensitivity.fidelity
    unused = None if fidelity is None else fidelity.unused
    unit, K = decomposition.unit, sensitivity.n_outputs
    what = (quantity(unit, decomposition.target_of(0)) or "the output") if one else with_unit(f"{K} outputs", unit)
    counts = ((len(decomposition.feature_names), "variable"), (len(decomposition.subspaces), "component"))
    sizes = ", ".join(f"{count:,} {noun}{'' if count == 1 else 's'}" for count, noun in counts)
    return Summary(
        f"{name} of {what}: {sizes}",
        decomposition.output_names,
        unit,
        float(used[0]) if one and used is not None else used,
        float(unused[0]) if one and unused is not None else unused,
        decomposition.residual,
        tuple(_components(sensitivity, k) for k in range(K)),
        decomposition.warnings,
    )


def _components(sensitivity: Any, output: int) -> Table:
    """Return the components of one output by decreasing magnitude of S."""
    of_indices = [values for values in (sensitivity.S, sensitivity.S_conf) if values is not None]
    columns = [sensitivity.names, [len(u) for u in sensitivity.subspaces]]
    columns += [(values if values.ndim == 1 else values[:, output]).tolist() for values in of_indices]
    rows = list(zip(*columns, strict=True))
    heads = ("names", "order", "S", "S_conf")[: len(columns)]
    return Table(heads, tuple(sorted(rows, key=lambda row: -abs(row[2]))))
