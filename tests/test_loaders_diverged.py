"""Models whose leaves are not finite, as after training that diverged, are refused; the error names the tree."""

import numpy as np
import pytest
from boosters import library
from sklearn.ensemble import GradientBoostingRegressor, VotingRegressor

import fasthdmr
from fasthdmr import load_forest
from fasthdmr.loaders import Trees

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
Y = X[:, 0] ** 3


def refused(value):
    return pytest.raises(ValueError, match=rf"finite, got {value} in tree \d+: .* smaller learning rate")


@pytest.mark.parametrize("ending", ["ubj", "json"])
def test_xgboost(ending, tmp_path):
    model = library("xgboost").XGBRegressor(n_estimators=60, learning_rate=50.0, n_jobs=1).fit(X, Y)
    assert not np.isfinite(model.predict(X)).all()
    model.save_model(tmp_path / f"model.{ending}")
    for source in (model, model.get_booster(), tmp_path / f"model.{ending}"):
        with refused("(-?inf|nan)"):
            load_forest(source)


@pytest.mark.parametrize("value", ["inf", "-inf", "nan"])
def test_lightgbm(value, tmp_path):
    lgb = library("lightgbm")
    model = lgb.LGBMRegressor(n_estimators=5, verbose=-1, n_jobs=1).fit(X, Y)
    model.booster_.set_leaf_output(3, 2, float(value))
    model.booster_.save_model(tmp_path / "model.txt")
    for source in (model, tmp_path / "model.txt"):
        with refused(value) as error:
            load_forest(source)
        assert "in tree 3" in str(error.value)


def test_catboost(tmp_path):
    cb = library("catboost")
    options = {"iterations": 3, "depth": 2, "verbose": 0, "allow_writing_files": False, "thread_count": 1}
    model = cb.CatBoostClassifier(**options).fit(X, np.digitize(Y, [-0.3, 0.3]))
    for _ in range(2):  # one sum with such weights is still finite
        model = cb.sum_models([model], weights=[1e200])
    assert not np.isfinite(model.get_leaf_values()).all()
    model.save_model(tmp_path / "model.cbm")  # CatBoost writes no JSON of it
    for source in (model, tmp_path / "model.cbm"):
        with refused("-?inf"):
            load_forest(source)


def two_trees(value, at):
    """Two trees of one split, with several outputs; the leaf number `at` has this value."""
    leaves = np.zeros((6, 2))
    leaves[at, 1] = value
    return Trees(
        n_features=3,
        tree_offsets=[0, 3, 6],
        left=[1, -1, -1] * 2,
        right=[2, -1, -1] * 2,
        feature=[0] * 6,
        threshold=[0] * 6,
        missing_left=[0] * 6,
        value=leaves,
        tree_output=[0, 0],
        offset=[0, 0],
        weight=[1] * 6,
    )


class Model:
    def __init__(self, value, at):
        self.value, self.at = value, at


fasthdmr.register_loader(f"{__name__}.Model", lambda model: two_trees(model.value, model.at))


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_registered_loaders(value):
    for use in (load_forest, fasthdmr.TreeHDMR(Model(value, 4)).fit):
        with refused(value) as error:
            use(Model(value, 4) if use is load_forest else X)
        assert "in tree 1" in str(error.value)
    assert np.isfinite(load_forest(Model(value, 3)).predict(X)).all()  # values of inner nodes are ignored


@pytest.mark.parametrize("wrapped", [False, True])
def test_scikit_learn(wrapped):
    """Its own training does not make such leaves."""
    model = GradientBoostingRegressor(n_estimators=3, random_state=0).fit(X, Y)
    model.estimators_[2, 0].tree_.value[-1] = np.inf
    voting = VotingRegressor([("model", model)]).fit(X, Y)
    voting.estimators_ = [model]
    with refused("inf") as error:
        load_forest(voting if wrapped else model)
    assert "in tree 2" in str(error.value)
