"""The RF claim: main effects of forests have larger errors than those of boosting, for all settings."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bench.ishigami import main_effects, sample
from bench.paper.ishigami import component, member
from bench.paper.options import Options
from bench.paper.result import Result, Row, claim
from bench.report import machine, table
from fasthdmr import TreeHDMR

# An error that changes by less than this factor over the settings is called insensitive.
INSENSITIVE = 1.5


@dataclass(frozen=True)
class Setting:
    """A collection: one ensemble a depth."""

    n_trees: int = 1000
    n_rows: int = 5000
    depths: tuple[int | None, ...] = (1, 2, 3)


BASE = Setting()
# One thing at a time is changed.
SETTINGS = [
    BASE,
    replace(BASE, n_trees=100),
    replace(BASE, n_rows=20_000),
    replace(BASE, depths=(1, 2, 3, 4, 5, 6)),
    replace(BASE, depths=(1, 2, 3, None)),
]


def errors(kind: str, setting: Setting, seed: int) -> np.ndarray:
    """Return the relative L2 errors of f_1 and f_2 on the rows."""
    X, y = sample(setting.n_rows, seed)
    models = [member(kind, depth, setting.n_trees, X, y) for depth in setting.depths]
    hdmr = TreeHDMR(models, basis="trees", order=None, combine="ridge", n_jobs=2).fit(X, y)
    found = []
    for i, exact in enumerate(main_effects(X)):
        ours = component(hdmr, (i,), X[:, [i]])
        found.append(np.linalg.norm(ours - exact) / np.linalg.norm(exact))
    return np.array(found)


def answer(found: dict[str, np.ndarray]) -> str:
    """Return the answer in words, computed from errors (settings, 2); nan: not run."""
    more, compared = found["rf"] > found["gbr"], np.isfinite(found["gbr"])
    verdict = "yes" if more[compared].all() else "no" if not more[compared].any() else "not always"
    lines = [f"Does RF lose more? {verdict}: its error is the larger in {more.sum()} of {compared.sum()} cases."]
    for i in range(2):
        low, high = np.nanmin(found["rf"][:, i]), np.nanmax(found["rf"][:, i])
        word = "insensitive" if high < INSENSITIVE * low else "sensitive"
        lines.append(
            f"RF's error of f_{i + 1} is {word} to trees, rows and depth: {low:.3f} to {high:.3f}, "
            f"a factor of {high / low:.1f} (insensitive: below {INSENSITIVE})."
        )
        if low == high == 1:
            lines.append(f"(No forest has trees on x_{i + 1} alone, so this basis has no column for f_{i + 1}.)")
    return "\n".join(lines)


def verdicts(found: dict[str, np.ndarray]) -> list[Row]:
    """Return the verdicts on the paper's statements."""
    compared = np.isfinite(found["gbr"])
    share = (found["rf"] > found["gbr"])[compared].mean()
    rows = [
        claim(
            "“RF experiences far more leakage than GBR”: share of cases where its error is larger",
            share == 1,
            "all",
            ours=share,
        )
    ]
    for i in range(2):
        factor = np.nanmax(found["rf"][:, i]) / np.nanmin(found["rf"][:, i])
        what = (
            f"“insensitive to the number of trees, sample size, or tree depth”: largest over least error of f_{i + 1}"
        )
        rows.append(claim(what, factor < INSENSITIVE, f"below {INSENSITIVE}", ours=factor))
    return rows


def run(options: Options) -> Result:
    """Print the errors and the answer."""
    settings = SETTINGS
    if options.quick:
        settings = [replace(s, n_trees=s.n_trees // 10, n_rows=s.n_rows // 5) for s in SETTINGS]
    found = {kind: np.full((len(settings), 2), np.nan) for kind in ("rf", "gbr")}
    rows = []
    for s, setting in enumerate(settings):
        for kind, means in found.items():
            # Boosting of unlimited depth interpolates the rows with its first trees, so it is not run.
            if kind == "gbr" and None in setting.depths:
                continue
            repeats = np.stack([errors(kind, setting, seed) for seed in range(options.realisations)])
            means[s] = repeats.mean(axis=0)
            texts = [f"{m:.3f} ± {d:.3f}" for m, d in zip(means[s], repeats.std(axis=0), strict=True)]
            depths = ", ".join("none" if depth is None else str(depth) for depth in setting.depths)
            rows.append([kind.upper(), depths, str(setting.n_trees), str(setting.n_rows), *texts])
    print(f"rf_claim: Ishigami, relative L2 error of f_1, f_2 on the rows, {options.realisations} samples")
    print(machine())
    print(table(["model", "depths", "trees", "N", "f_1", "f_2"], rows))
    print(answer(found))
    cuts = ["a tenth of the trees, a fifth of the rows"] if options.quick else []
    notes = ["Where all stumps split on x1, the basis has no column for f_2, and its error is 1 whatever else changes."]
    return Result(verdicts(found), cuts=cuts, notes=notes)
