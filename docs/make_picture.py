"""Draw the picture of the README: ``python docs/make_picture.py`` writes ``docs/components.png``.

Reads the California housing data from the directory FASTHDMR_DATA, or lets scikit-learn fetch them.
"""

import pandas as pd
from matplotlib import pyplot
from sklearn.ensemble import GradientBoostingRegressor
from small_png import save

import fasthdmr
from fasthdmr.plotting import ComponentDisplay, SensitivityDisplay


def main() -> None:
    """Fit boosted trees of depth 1, 2 and 3, as in the paper, and draw their HDMR."""
    housing = fasthdmr.datasets.fetch_california_housing()
    X = pd.DataFrame(housing.data, columns=housing.feature_names)
    ensembles = [GradientBoostingRegressor(n_estimators=300, max_depth=d, random_state=0) for d in (1, 2, 3)]
    hdmr = fasthdmr.TreeHDMR(ensembles).fit(X, pd.Series(housing.target, name="MedHouseVal"))
    print(hdmr.sensitivity_)
    figure, (bars, income, place) = pyplot.subplots(
        1, 3, figsize=(12, 3.6), layout="constrained", width_ratios=[1.3, 1, 1.2]
    )
    SensitivityDisplay.from_estimator(hdmr, ax=bars)
    ComponentDisplay.from_estimator(hdmr, ["MedInc", ("Latitude", "Longitude")], ax=[income, place])
    save(figure, "components")


if __name__ == "__main__":
    main()
