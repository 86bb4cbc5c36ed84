"""Estimators around tree models, and what is refused: always with a reason and a remedy."""

from pathlib import Path

import pytest
from models import LABELS, WORDS, X, Y, fitted, gbc, gbr
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreesEmbedding,
    VotingRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor
from tolerance import assert_close

from fasthdmr.loaders import load_forest


@pytest.mark.parametrize("path", ["model.pkl", b"\x80\x04", Path("model.skops")], ids=["str", "bytes", "path"])
def test_O36_paths_and_bytes_are_refused(path):
    with pytest.raises(TypeError, match="fitted model"):
        load_forest(path)


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (gbr(init=LinearRegression()), Y),
        (gbc(init=LogisticRegression()), LABELS),
        (gbc(init=DummyClassifier(strategy="stratified", random_state=0)), LABELS),
    ],
    ids=["linear", "logistic", "stratified"],
)
def test_init_that_is_not_constant_is_refused(model, y):
    with pytest.raises(ValueError, match=r"not constant.*init='zero'"):
        load_forest(model.fit(X, y))


@pytest.mark.parametrize(
    "model",
    [
        GradientBoostingRegressor(),
        RandomForestClassifier(),
        DecisionTreeRegressor(),
        VotingRegressor([("a", DecisionTreeRegressor())]),
        GridSearchCV(DecisionTreeRegressor(), {"max_depth": [1, 2]}),
        make_pipeline("passthrough", DecisionTreeRegressor()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_unfitted_models_are_refused(model):
    with pytest.raises(NotFittedError):
        load_forest(model)


@pytest.mark.parametrize(
    "model",
    [
        LinearRegression().fit(X, Y),
        HistGradientBoostingRegressor(max_iter=1).fit(X, Y),
        RandomTreesEmbedding(1).fit(X),
        RandomForestRegressor,
        None,
    ],
    ids=["linear", "hist", "embedding", "class", "None"],
)
def test_other_models_are_refused_with_what_is_supported(model):
    with pytest.raises(TypeError, match=r"not supported.*RandomForest"):
        load_forest(model)


def test_a_forest_is_returned_as_it_is():
    forest = load_forest(fitted("gbr"))
    assert load_forest(forest) is forest


def test_subclasses_are_read():
    class Mine(RandomForestRegressor):
        pass

    model = Mine(5, random_state=0).fit(X, Y)
    assert_close(load_forest(model).predict(X), model.predict(X))


@pytest.mark.parametrize("search", [GridSearchCV, RandomizedSearchCV])
def test_searches_give_their_best_estimator(search):
    grid = {"max_depth": [1, 3]}
    extra = {} if search is GridSearchCV else {"n_iter": 2, "random_state": 0}
    model = search(DecisionTreeRegressor(random_state=0), grid, cv=2, **extra).fit(X, Y)
    assert_close(load_forest(model).predict(X), model.predict(X))


def test_searches_by_successive_halving():
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401
    from sklearn.model_selection import HalvingGridSearchCV

    model = HalvingGridSearchCV(DecisionTreeRegressor(random_state=0), {"max_depth": [1, 3]}, cv=2, random_state=0)
    assert_close(load_forest(model.fit(X, Y)).predict(X), model.predict(X))


def test_search_without_refit_is_refused():
    model = GridSearchCV(DecisionTreeRegressor(), {"max_depth": [1, 2]}, cv=2, refit=False).fit(X, Y)
    with pytest.raises(ValueError, match="refit=True"):
        load_forest(model)


def test_pipelines_that_leave_the_rows_alone():
    model = make_pipeline("passthrough", None, RandomForestClassifier(5, random_state=0)).fit(X, WORDS)
    assert_close(load_forest(model).predict(X), model.predict_proba(X))


def test_pipelines_that_transform_are_refused_and_the_remedy_works():
    pipe = make_pipeline(StandardScaler(), GradientBoostingRegressor(n_estimators=5)).fit(X, Y)
    with pytest.raises(ValueError, match=r"standardscaler.*pipe\[-1\] on pipe\[:-1\]\.transform\(X\)"):
        load_forest(pipe)
    assert_close(load_forest(pipe[-1]).predict(pipe[:-1].transform(X)), pipe.predict(X))


VOTERS = [
    ("boosting", GradientBoostingRegressor(n_estimators=5)),
    ("dropped", "drop"),
    ("forest", RandomForestRegressor(5, random_state=0)),
    ("piped", make_pipeline("passthrough", ExtraTreesRegressor(3, random_state=0))),
]


@pytest.mark.parametrize("weights", [None, [1, 7, 2.5, 3]])
def test_voting_of_tree_models_is_one_forest(weights):
    model = VotingRegressor(VOTERS, weights=weights).fit(X, Y)
    forest = load_forest(model)
    assert forest.n_trees == 13
    assert not forest.allow_nan  # the gradient boosting refuses
    assert_close(forest.predict(X), model.predict(X))


def test_voting_with_other_members_is_refused():
    model = VotingRegressor([("tree", DecisionTreeRegressor()), ("line", LinearRegression())]).fit(X, Y)
    with pytest.raises(ValueError, match=r"'line'.*LinearRegression.*named_estimators_"):
        load_forest(model)


def test_feature_names_come_from_the_data_frame():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abcd"))
    tree = DecisionTreeRegressor(random_state=0)
    search = GridSearchCV(make_pipeline("passthrough", tree), {"decisiontreeregressor__max_depth": [2]}, cv=2)
    for model in (tree, GradientBoostingRegressor(n_estimators=2), VotingRegressor([("tree", tree)]), search):
        assert load_forest(model.fit(frame, Y)).feature_names == ("a", "b", "c", "d")
    assert load_forest(tree.fit(X, Y)).feature_names is None
