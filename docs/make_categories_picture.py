"""Draw the picture of categories.md, ``docs/categories.png``: ``python docs/make_categories_picture.py``."""

from matplotlib import pyplot
from small_png import save

import fasthdmr
from fasthdmr.plotting import ComponentDisplay


def main() -> None:
    """Decompose the rents of apartments and draw components of all kinds."""
    X, y = fasthdmr.datasets.make_apartments(3000, random_state=0)
    hdmr = fasthdmr.HDMR().fit(X.drop(columns="region"), y)
    figure, axes = pyplot.subplots(2, 2, figsize=(9, 6.4), layout="constrained", height_ratios=[1, 1.1])
    subspaces = ["city", "heating", ("area", "city"), ("city", "furnished")]
    ComponentDisplay.from_estimator(hdmr, subspaces, sort="effect", ax=axes)
    save(figure, "categories")


if __name__ == "__main__":
    main()
