"""Models and data as users have them: forests predict as the models do."""

import numpy as np
import pytest
from reference.trees import raw_output
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingRegressor,
)
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor
from tolerance import assert_close

from fasthdmr import load_forest

DIABETES, IRIS = load_diabetes(), load_iris()
SMALL = {"n_estimators": 20, "random_state": 0}
MODELS = {
    "boosting": (GradientBoostingRegressor(**SMALL), DIABETES),
    "forest": (RandomForestRegressor(**SMALL), DIABETES),
    "search": (GridSearchCV(RandomForestRegressor(**SMALL), {"max_depth": [2, 4]}, cv=2), DIABETES),
    "pipeline": (make_pipeline("passthrough", ExtraTreesRegressor(**SMALL)), DIABETES),
    "vote": (
        VotingRegressor([("a", GradientBoostingRegressor(**SMALL)), ("b", RandomForestRegressor(**SMALL))]),
        DIABETES,
    ),
    "boosted classes": (GradientBoostingClassifier(**SMALL), IRIS),
    "forest of classes": (RandomForestClassifier(**SMALL), IRIS),
}


def as_frame(kind, data):
    if kind == "numpy":
        return data.data
    module = pytest.importorskip(kind)
    return module.DataFrame(dict(zip(data.feature_names, data.data.T, strict=True)))


def names_seen(rows):
    """The column names as scikit-learn reads them; 1.6 does not recognise those of polars 2."""
    names = getattr(DecisionTreeRegressor().fit(rows, np.zeros(len(rows))), "feature_names_in_", None)
    return None if names is None else tuple(names)


@pytest.mark.parametrize("kind", ["numpy", "pandas", "polars"])
@pytest.mark.parametrize("name", MODELS)
def test_load_forest_predicts_as_the_model(name, kind):
    model, data = MODELS[name]
    rows = as_frame(kind, data)
    model = clone(model).fit(rows, data.target)
    forest = load_forest(model)
    assert forest.feature_names == names_seen(rows)
    assert_close(forest.predict(rows, n_jobs=2), raw_output(model, rows))
    assert_close(forest.predict(np.asarray(rows)), forest.predict(rows))
