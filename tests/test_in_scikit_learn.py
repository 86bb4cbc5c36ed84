"""TreeHDMR where scikit-learn's own tools put an estimator, and on whatever they return."""

from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor, VotingRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tolerance import assert_close

from fasthdmr import TreeHDMR as AnyHDMR
from fasthdmr import load_forest

# Trees have steps, and more variables than components, so residuals are large.
pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.ResidualWarning")

TreeHDMR = partial(AnyHDMR, basis="trees")  # whose components sum to the model itself

X, y = load_diabetes(return_X_y=True)


def boosting():
    return GradientBoostingRegressor(n_estimators=30, max_depth=2, random_state=0)


def test_in_a_pipeline_in_place_of_the_model():
    plain = make_pipeline(StandardScaler(), boosting()).fit(X, y)
    explained = make_pipeline(StandardScaler(), TreeHDMR(boosting(), order=None)).fit(X, y)
    assert_close(explained.predict(X), plain.predict(X), 1e-9)
    assert_close(explained.score(X, y), plain.score(X, y), 1e-9)


def test_as_a_transformer_in_a_pipeline():
    linear = make_pipeline(TreeHDMR(boosting(), order=None), LinearRegression()).fit(X, y)
    assert linear.score(X, y) > boosting().fit(X, y).score(X, y)


def test_in_a_grid_search_in_place_of_the_model():
    grid = {"max_depth": [1, 2], "n_estimators": [5, 40]}
    plain = GridSearchCV(boosting(), grid, cv=3).fit(X, y)
    nested = {f"estimators__{name}": values for name, values in grid.items()}
    explained = GridSearchCV(TreeHDMR(boosting(), order=None), nested, cv=3).fit(X, y)
    assert_close(explained.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], 1e-9)
    assert explained.best_params_ == {f"estimators__{k}": v for k, v in plain.best_params_.items()}
    assert explained.best_estimator_.sensitivity_.S.sum() == pytest.approx(1)


@pytest.mark.parametrize("frozen", [FrozenEstimator, load_forest])
def test_fitted_models_stay_fitted_in_a_search(frozen):
    """scikit-learn's clone resets models inside an estimator, but not a FrozenEstimator or a Forest."""
    model = boosting().fit(X, y)
    search = GridSearchCV(TreeHDMR(frozen(model)), {"order": [1, 2]}, cv=3).fit(X, y)
    assert_close(search.best_estimator_.set_params(order=None).fit(X).predict(X), model.predict(X), 1e-9)
    assert len(cross_val_score(TreeHDMR(frozen(model)), X, y, cv=3)) == 3


def test_models_as_scikit_learn_returns_them():
    stopped = GradientBoostingRegressor(n_estimators=500, n_iter_no_change=3, random_state=0).fit(X, y)
    assert stopped.n_estimators_ < 500
    search = GridSearchCV(RandomForestRegressor(20, random_state=0), {"max_depth": [1, 2]}, cv=2).fit(X, y)
    pipeline = make_pipeline("passthrough", boosting()).fit(X, y)
    vote = VotingRegressor([("a", boosting()), ("b", RandomForestRegressor(5, max_depth=2))], weights=[3, 1]).fit(X, y)
    for model in (stopped, search, search.best_estimator_, pipeline, vote, load_forest(stopped)):
        hdmr = TreeHDMR(model, order=None).fit(X)
        assert_close(hdmr.predict(X), model.predict(X), 1e-9)
        assert hdmr.estimators_[0] is model


def test_pipelines_are_decomposed_and_other_sums_refused():
    scaled = make_pipeline(StandardScaler(), boosting()).fit(X, y)
    hdmr = TreeHDMR(scaled, order=None).fit(X)
    assert_close(hdmr.predict(X) + hdmr.residual(X), scaled.predict(X), 1e-9)
    mixed = VotingRegressor([("trees", boosting()), ("line", LinearRegression())]).fit(X, y)
    with pytest.raises(ValueError, match="'line' is not a sum of trees"):
        TreeHDMR(mixed).fit(X)


def test_order_in_the_search_sees_the_reduced_model():
    hdmr = TreeHDMR(boosting(), order=1).fit(X, y)
    assert hdmr.score(X, y) < TreeHDMR(boosting(), order=2).fit(X, y).score(X, y)
    assert np.allclose(hdmr.predict(X) + hdmr.residual(X), hdmr.estimators_[0].predict(X), rtol=0, atol=1e-9)
