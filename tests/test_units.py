"""The unit of a forest's outputs: its inverse link gives the model's own predictions. Results and plots show it."""

import numpy as np
import pytest
from boosters import library
from scipy.special import expit, softmax
from sklearn.datasets import make_friedman1
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.tree import DecisionTreeClassifier
from tolerance import assert_close

from fasthdmr import HDMR, TreeHDMR, load_forest
from fasthdmr._cli.pictures import pictures
from fasthdmr.plotting import ComponentDisplay, WaterfallDisplay

pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.FastHDMRWarning")

X, Y = make_friedman1(150, 5, random_state=0)
POSITIVE = Y - Y.min() + 0.5
LABELS = np.digitize(Y, np.quantile(Y, [0.3, 0.7]))
FEW = {"n_estimators": 6, "random_state": 0}
FLOAT32 = "xgboost predicts in float32"


def xgboost(name, **options):
    return getattr(library("xgboost"), name)(**FEW, n_jobs=1, **options)


def lightgbm(name, **options):
    return getattr(library("lightgbm"), name)(**FEW, n_jobs=1, verbose=-1, **options)


def catboost(name, **options):
    quiet = {"verbose": 0, "allow_writing_files": False, "thread_count": 1}
    return getattr(library("catboost"), name)(iterations=6, **quiet, **options)


# Inverse link functions: from the sum of trees to the prediction of the target, or to probabilities.
INVERSE_LINK = {
    "": lambda f: f,
    "probability": lambda f: f,
    "log-odds": expit,
    "log-odds / 2.5": lambda f: expit(2.5 * f),
    "half the log-odds": lambda f: expit(2 * f),
    "log of the mean": np.exp,
    "log of the hazard": np.exp,
    "log of the time": np.exp,
    "square root": lambda f: np.sign(f) * f**2,
    "score": lambda f: softmax(f, axis=1),
}
BINARY = LABELS > 0
MODELS = {
    "GBR": (lambda: GradientBoostingRegressor(**FEW), Y, ""),
    "GBC": (lambda: GradientBoostingClassifier(**FEW), BINARY, "log-odds"),
    "GBC exponential": (lambda: GradientBoostingClassifier(loss="exponential", **FEW), BINARY, "half the log-odds"),
    "GBC of 3": (lambda: GradientBoostingClassifier(**FEW), LABELS, "score"),
    "RFR": (lambda: RandomForestRegressor(**FEW), Y, ""),
    "RFC": (lambda: RandomForestClassifier(**FEW), BINARY, "probability"),
    "tree of 3": (lambda: DecisionTreeClassifier(random_state=0), LABELS, "probability"),
    "bagging": (lambda: BaggingClassifier(DecisionTreeClassifier(), 3, random_state=0), LABELS, "probability"),
    "HGB": (lambda: HistGradientBoostingRegressor(max_iter=5), Y, ""),
    "HGB poisson": (lambda: HistGradientBoostingRegressor(loss="poisson", max_iter=5), POSITIVE, "log of the mean"),
    "HGB gamma": (lambda: HistGradientBoostingRegressor(loss="gamma", max_iter=5), POSITIVE, "log of the mean"),
    "HGB binary": (lambda: HistGradientBoostingClassifier(max_iter=5), BINARY, "log-odds"),
    "HGB of 3": (lambda: HistGradientBoostingClassifier(max_iter=5), LABELS, "score"),
    "xgboost": (lambda: xgboost("XGBRegressor"), Y, ""),
    "xgboost logistic": (lambda: xgboost("XGBRegressor", objective="reg:logistic"), expit(Y - 14), "log-odds"),
    "xgboost poisson": (lambda: xgboost("XGBRegressor", objective="count:poisson"), POSITIVE, "log of the mean"),
    "xgboost tweedie": (lambda: xgboost("XGBRegressor", objective="reg:tweedie"), POSITIVE, "log of the mean"),
    "xgboost cox": (lambda: xgboost("XGBRegressor", objective="survival:cox"), POSITIVE, "log of the hazard"),
    "xgboost binary": (lambda: xgboost("XGBClassifier"), BINARY, "log-odds"),
    "xgboost of 3": (lambda: xgboost("XGBClassifier"), LABELS, "score"),
    "LightGBM": (lambda: lightgbm("LGBMRegressor"), Y, ""),
    "LightGBM sqrt": (lambda: lightgbm("LGBMRegressor", reg_sqrt=True), POSITIVE, "square root"),
    "LightGBM gamma": (lambda: lightgbm("LGBMRegressor", objective="gamma"), POSITIVE, "log of the mean"),
    "LightGBM binary": (lambda: lightgbm("LGBMClassifier"), BINARY, "log-odds"),
    "LightGBM sigmoid": (lambda: lightgbm("LGBMClassifier", sigmoid=2.5), BINARY, "log-odds / 2.5"),
    "LightGBM of 3": (lambda: lightgbm("LGBMClassifier"), LABELS, "score"),
    "CatBoost": (lambda: catboost("CatBoostRegressor"), Y, ""),
    "CatBoost poisson": (
        lambda: catboost("CatBoostRegressor", loss_function="Poisson"),
        np.round(POSITIVE),
        "log of the mean",
    ),
    "CatBoost binary": (lambda: catboost("CatBoostClassifier"), BINARY, "log-odds"),
    "CatBoost of 3": (lambda: catboost("CatBoostClassifier"), LABELS, "score"),
}


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("name", MODELS)
def test_the_inverse_link_of_the_unit_gives_the_prediction(name):
    make, y, unit = MODELS[name]
    model = make().fit(X, y)
    forest = load_forest(model)
    assert forest.unit == unit
    predicted = INVERSE_LINK[unit](forest.predict(X))
    if hasattr(model, "predict_proba"):
        own = model.predict_proba(X)
        own = own[:, 1] if own.shape[1] == 2 else own
    elif name == "CatBoost poisson":
        own = model.predict(X, prediction_type="Exponent")
    else:
        own = model.predict(X)
    assert_close(predicted, own, 1e-5 if "xgboost" in name else 1e-12, reason=FLOAT32)


def test_units_of_rankers_and_of_other_objectives():
    data, groups = library("xgboost").DMatrix(X, LABELS), np.arange(150) // 10
    data.set_group(np.bincount(groups))
    train = library("xgboost").train
    for objective, unit in (("rank:ndcg", "score"), ("binary:logitraw", "log-odds"), ("reg:absoluteerror", "")):
        parameters = {"objective": objective, "nthread": 1}
        label = data if objective == "rank:ndcg" else library("xgboost").DMatrix(X, BINARY)
        assert load_forest(train(parameters, label, 3)).unit == unit
    ranker = lightgbm("LGBMRanker").fit(X, LABELS, group=np.bincount(groups))
    assert load_forest(ranker).unit == "score"
    ova = lightgbm("LGBMClassifier", objective="multiclassova").fit(X, LABELS)
    assert load_forest(ova).unit == "log-odds"
    rest = OneVsRestClassifier(GradientBoostingClassifier(**FEW)).fit(X, LABELS)
    assert load_forest(rest).unit == "log-odds"


def test_explanations_plots_and_reports_show_the_unit():
    model = GradientBoostingClassifier(max_depth=2, **FEW).fit(X, BINARY)
    fit = TreeHDMR(model).fit(X)
    assert fit.decomposition_.unit == "log-odds"
    assert fit.components_[0].unit == fit.explain(X[0]).unit == "log-odds"
    assert "Output (log-odds)" in str(fit.explain(X[0]))
    curve, heat = ComponentDisplay.from_estimator(fit, [fit.subspaces_[0], fit.subspaces_[-1]]).axes_
    assert curve.get_ylabel().endswith('), log-odds of "True"')
    assert [
        a.get_ylabel() for a in heat.figure.axes if a.get_ylabel().endswith('), log-odds of "True"') and a is not curve
    ]
    surface = ComponentDisplay.from_estimator(fit, [fit.subspaces_[-1]], kind="surface").axes_[0]
    assert surface.get_title().endswith('), log-odds of "True"')
    xlabel = WaterfallDisplay.from_estimator(fit, X[0]).axes_[0].get_xlabel()
    assert xlabel == 'output of the model, log-odds of "True"'
    drawn = pictures(fit, 0)["components"].axes_
    assert all("log-odds of" in "".join(a.get_ylabel() for a in one.figure.axes) for one in drawn)


def test_no_unit_if_it_is_that_of_the_target_or_unknown():
    regressor = GradientBoostingRegressor(max_depth=2, **FEW).fit(X, Y)
    for fit in (TreeHDMR(regressor).fit(X), HDMR(regressor).fit(X)):
        assert fit.decomposition_.unit == ""
        axes = ComponentDisplay.from_estimator(fit, [fit.subspaces_[0]]).axes_[0]
        assert not axes.get_ylabel().endswith("()") and "log" not in axes.get_ylabel()
    two = [GradientBoostingClassifier(**FEW).fit(X, BINARY), HistGradientBoostingClassifier(max_iter=3).fit(X, BINARY)]
    assert TreeHDMR(two, combine="sum").fit(X).decomposition_.unit == "log-odds"
    mixed = [two[0], RandomForestClassifier(max_depth=2, **FEW).fit(X, BINARY)]
    assert TreeHDMR(mixed, combine="sum").fit(X).decomposition_.unit == ""
    assert TreeHDMR(two, combine="ridge").fit(X, Y).decomposition_.unit == ""
