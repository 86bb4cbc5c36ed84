"""SALib's hdmr: indices from samples, by a surrogate."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.runner import Arrays, Contender, quietly


def contenders(X: np.ndarray, y: np.ndarray, *, order: int, stage: str, limit: float) -> list[Contender]:
    """Return S of all subspaces, by default (2 intervals of splines), and with 5, about the best choice here."""

    def prepare() -> Any:
        from SALib.analyze import hdmr

        bounds = np.column_stack([X.min(axis=0), X.max(axis=0)]).tolist()
        names = [f"x{i + 1}" for i in range(X.shape[1])]
        return hdmr.analyze, {"num_vars": len(names), "names": names, "bounds": bounds}

    def analysing(intervals: int) -> Any:
        def run(prepared: Any) -> Any:
            analyze, problem = prepared
            return analyze(problem, X, y, maxorder=order, m=intervals, seed=0)

        return run

    def summary(result: Any) -> Arrays:
        names = ["S_" + term.replace("/", "").replace("x", "") for term in result["Term"]]
        return {name: np.array(S) for name, S in zip(names, result["S"], strict=True)}

    return [
        Contender(f"SALib hdmr, m={m}", stage, quietly(analysing(m)), quietly(prepare), summary, limit) for m in (2, 5)
    ]
