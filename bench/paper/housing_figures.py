"""Figures medinc, lat, long, ll_hdmr, pd_2d: components of California housing beside partial dependence."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.paper import housing
from bench.paper.figures import LINES, SIGNED, drawing
from bench.paper.options import Options
from bench.paper.result import Result, Row, claim
from bench.report import machine, table
from fasthdmr.inspection import partial_dependence

CURVE_POINTS, MAP_POINTS = 200, 80
TAILS = (0.005, 0.995)  # without a few extreme blocks, which would compress all others
# Our criteria for the paper's statements.
SIMILAR, BRUTE = 0.95, 1e-9
OFFSET = 0.05  # of partial dependence; smaller offsets are not visible
NEAREST = 0.08  # standard deviations: no block within it, no colour
EDGE = 0.01  # share of the rows that are "northern-most"
LATITUDE, LONGITUDE = 6, 7
ASPECT = 1.34  # of a map: kilometres of a standard deviation of latitude over those of longitude
UNIT = "standard deviations"
VALUE = f"house value ({UNIT})"


def dependence_on(data: housing.Housing, variables: tuple[int, ...], grid: list[np.ndarray]) -> np.ndarray:
    """Return partial dependence of the deepest GBR on a grid; predictions average 0, as y does."""
    values = dict(zip(variables, grid, strict=True))
    found = partial_dependence(data.models[-1], data.X, variables, custom_values=values, n_jobs=2)
    return np.asarray(found.average[0])


def curve(options: Options, name: str, variable: int) -> Result:
    """Draw one component beside partial dependence."""
    n_trees, cuts = housing.size(options)
    data = housing.decomposed(n_trees)
    own = data.X[:, variable]
    x = np.linspace(*np.quantile(own, TAILS), CURVE_POINTS)
    hdmr = data.hdmr.component((variable,))(x)
    dependence = dependence_on(data, (variable,), [x])
    everywhere = np.unique(np.quantile(own, np.linspace(0, 1, 1001)))
    offset = float(np.interp(own, everywhere, dependence_on(data, (variable,), [everywhere])).mean())
    path, feature = options.out / f"{name}.png", data.names[variable]
    with drawing(path, size=(5.6, 3.6)) as (_, ((axes,),)):
        curves = {"HDMR": hdmr, "partial dependence": dependence}
        if abs(offset) > OFFSET:
            curves["the same, centred"] = dependence - offset
        for (label, values), (colour, style) in zip(curves.items(), LINES, strict=False):
            axes.plot(x, values, color=colour, linestyle=style, label=label)
        axes.plot(
            np.quantile(own, np.linspace(0.05, 0.95, 19)), np.full(19, 0.02), "|k", transform=axes.get_xaxis_transform()
        )
        axes.set(xlabel=f"{feature} ({UNIT}; ticks: every 5 % of the blocks)", ylabel=VALUE)
        axes.legend(loc="best")
    alike = float(np.corrcoef(*(np.interp(own, x, values) for values in (hdmr, dependence)))[0, 1])
    rough, rough_pd = (float(np.abs(np.diff(values, 2)).sum()) for values in (hdmr, dependence))
    shift = float((hdmr - dependence).mean())
    print(f"{name}: HDMR of depths 1, 2, 3 and partial dependence of depth 3, {n_trees:,} trees each")
    print(machine())
    header = ["variable", "", "correlation", "roughness of HDMR", "of PD", "mean of PD", "HDMR - PD over the axis"]
    numbers = [f"{alike:.3f}", f"{rough:.2f}", f"{rough_pd:.2f}", f"{offset:+.3f}", f"{shift:+.3f}"]
    print(table(header, [[feature, "", *numbers]]))
    rows = _of_income(alike, rough, rough_pd) if name == "medinc" else _of_place(feature, shift)
    notes = [
        "Partial dependence is that of the GBR of depth 3, by averaging over rows. The paper does not say which GBR.",
    ]
    if abs(offset) > OFFSET:
        notes.append(
            f"Predictions average 0, their partial dependence {offset:+.2f} over the same blocks: it sets {feature} to "
            "values that do not go with the other variables. Without that offset (dash-dotted) HDMR − PD is "
            f"{shift + offset:+.2f} on the average over the axis. This was compared first; then partial dependence as "
            "it is usually drawn, not centred, which is what the paper's words fit."
        )
    return Result(rows, [path], cuts, notes)


def _of_income(alike: float, rough: float, rough_pd: float) -> list[Row]:
    return [
        claim(
            "“similar for MedInc”: correlation over the blocks", alike >= SIMILAR, f"at least {SIMILAR:g}", ours=alike
        ),
        claim(
            "“HDMR generally is smoother”: sum of absolute second differences",
            rough < rough_pd,
            f"below that of partial dependence, {rough_pd:.2f}",
            ours=rough,
        ),
    ]


def _of_place(feature: str, shift: float) -> list[Row]:
    what = f"“vertically shifted to more negative values”, {feature}: HDMR − PD, mean over the axis"
    return [claim(what, shift < 0, "below 0", ours=shift)]


def medinc(options: Options) -> Result:
    """Draw the effect of income."""
    return curve(options, "medinc", 0)


def lat(options: Options) -> Result:
    """Draw the effect of latitude."""
    return curve(options, "lat", LATITUDE)


def long(options: Options) -> Result:
    """Draw the effect of longitude."""
    return curve(options, "long", LONGITUDE)


def _grid(data: housing.Housing) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """Return the axes of a map, its points (longitude running fastest) and which of them have blocks nearby."""
    from scipy.spatial import cKDTree

    place = data.X[:, [LATITUDE, LONGITUDE]]
    axes = [np.linspace(values.min(), values.max(), MAP_POINTS) for values in place.T]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    return axes, points, cKDTree(place).query(points)[0] <= NEAREST


def _limit(*values: np.ndarray) -> float:
    """Return the limits of the colour scale, which a few cells exceed."""
    return float(np.quantile(np.abs(np.concatenate(values)), 0.99))


def _map(
    figure: Any, axes: Any, grid: list[np.ndarray], values: np.ndarray, inside: np.ndarray, limit: float, title: str
) -> None:
    shown = np.where(inside, values, np.nan).reshape(MAP_POINTS, MAP_POINTS)
    axes.grid(visible=False)
    mesh = axes.pcolormesh(grid[1], grid[0], shown, cmap=SIGNED, vmin=-limit, vmax=limit, rasterized=True)
    axes.set(title=title, xlabel=f"Longitude ({UNIT})", ylabel=f"Latitude ({UNIT})", aspect=ASPECT)
    figure.colorbar(mesh, ax=axes, label=VALUE, extend="both")


def ll_hdmr(options: Options) -> Result:
    """Draw the component of latitude and longitude."""
    n_trees, cuts = housing.size(options)
    data = housing.decomposed(n_trees)
    grid, points, inside = _grid(data)
    component, path = data.hdmr.component((LATITUDE, LONGITUDE)), options.out / "ll_hdmr.png"
    with drawing(path, size=(5.6, 4.4)) as (figure, ((axes,),)):
        values = component(points)
        _map(figure, axes, grid, values, inside, _limit(values[inside]), "HDMR, what both do beyond each")
    place = data.X[:, [LATITUDE, LONGITUDE]]
    values = component(place)
    means = {
        side: float(values[place[:, k] >= np.quantile(place[:, k], 1 - EDGE)].mean())
        for k, side in enumerate(("northern", "eastern"))
    }
    print(f"ll_hdmr: {n_trees:,} trees each; mean of the component over the {EDGE:.0%} of blocks farthest out")
    print(machine())
    print(table(["side", "", "mean"], [[side, "", f"{mean:+.3f}"] for side, mean in means.items()]))
    rows = [
        claim(
            f"“positive contributions in {side}-most locations”: mean over {EDGE:.0%} of the blocks",
            mean > 0,
            "above 0",
            ours=mean,
        )
        for side, mean in means.items()
    ]
    return Result(rows, [path], cuts, ["White: no block within 0.08 standard deviations."])


def pd_2d(options: Options) -> Result:
    """Draw partial dependence on latitude and longitude beside the component of the HDMR."""
    n_trees, cuts = housing.size(options)
    data = housing.decomposed(n_trees)
    grid, points, inside = _grid(data)
    both = (LATITUDE, LONGITUDE)
    dependence = dependence_on(data, both, grid).ravel()
    hdmr = data.hdmr.component(both)(points)
    hdmr += sum(data.hdmr.component((i,))(points[:, k]) for k, i in enumerate(both))
    path = options.out / "pd_2d.png"
    with drawing(path, (1, 2), (10.0, 4.2)) as (figure, axes):
        limit = _limit(dependence[inside], hdmr[inside])
        _map(figure, axes[0, 0], grid, dependence, inside, limit, "partial dependence")
        _map(figure, axes[0, 1], grid, hdmr, inside, limit, "HDMR: both variables and their interaction")
    off = _off_brute(data, both, grid, dependence.reshape(MAP_POINTS, -1))
    alike = float(np.corrcoef(dependence[inside], hdmr[inside])[0, 1])
    print(f"pd_2d: {n_trees:,} trees; partial dependence of depth 3 by averaging over rows")
    print(machine())
    print(
        table(
            ["", "", "off the averages, 3 points", "correlation with HDMR"], [["map", "", f"{off:.0e}", f"{alike:.3f}"]]
        )
    )
    what = "partial dependence: largest difference from averages of predict, 3 pairs of points"
    notes = [
        "The paper shows scikit-learn 0.18's map to say that it is wrong: it “exhibits the marginal density”.",
        "White: no block within 0.08 standard deviations.",
    ]
    return Result([Row("the map"), claim(what, off <= BRUTE, f"at most {BRUTE:g}", ours=off)], [path], cuts, notes)


def _off_brute(data: housing.Housing, both: tuple[int, int], grid: list[np.ndarray], values: np.ndarray) -> float:
    """Return the largest difference from averages of predictions, of differences between points of the map."""
    places, averages = [(10, 60), (40, 30), (70, 5)], []
    for place in places:
        rows = data.X.copy()
        rows[:, list(both)] = [axis[at] for axis, at in zip(grid, place, strict=True)]
        averages.append(data.models[-1].predict(rows).mean())
    ours = np.array([values[place] for place in places])
    return float(np.abs(np.diff(ours) - np.diff(averages)).max())
