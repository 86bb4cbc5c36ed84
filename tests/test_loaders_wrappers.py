"""Estimators around tree models, and errors for others, which state a reason and a remedy."""

import numpy as np
import pytest
from models import BINARY, LABELS, TARGETS, WORDS, Y2, X, Y, fitted, gbc, gbr
from sklearn.compose import TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreesEmbedding,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    PowerTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tolerance import assert_close

from fasthdmr.loaders import load_forest


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
        AdaBoostRegressor(n_estimators=1).fit(X, Y),
        RandomTreesEmbedding(1).fit(X),
        RandomForestRegressor,
        None,
    ],
    ids=["linear", "AdaBoost", "embedding", "class", "None"],
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


def test_pipelines_that_mix_columns_are_refused_and_the_remedy_works():
    pipe = make_pipeline(PCA(2), GradientBoostingRegressor(n_estimators=5)).fit(X, Y)
    with pytest.raises(ValueError, match=r"'pca'.*PCA\(n_components=2\).*pipe\[-1\] on pipe\[:-1\]\.transform\(X\)"):
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
    assert not forest.allow_nan  # gradient boosting does not accept missing values
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


@pytest.mark.parametrize("member", [DecisionTreeRegressor(max_depth=4), HistGradientBoostingRegressor(max_iter=3)])
def test_bagging_of_regressors_that_see_some_columns(member):
    model = BaggingRegressor(member, 5, max_features=0.6, max_samples=0.7, random_state=0).fit(X, Y)
    assert_close(load_forest(model).predict(X), model.predict(X))


@pytest.mark.parametrize("y", [BINARY, WORDS], ids=["binary", "words"])
def test_bagging_of_classifiers(y):
    model = BaggingClassifier(DecisionTreeClassifier(max_depth=3), 5, random_state=0).fit(X, y)
    forest, desired = load_forest(model), model.predict_proba(X)
    assert_close(forest.predict(X), desired if forest.n_outputs > 1 else desired[:, 1])
    assert forest.output_names == (None if forest.n_outputs == 1 else ("a", "b", "c"))


def test_bagging_whose_members_have_seen_other_classes_is_refused():
    rare = WORDS.copy()
    rare[0] = "d"
    member = make_pipeline("passthrough", DecisionTreeClassifier())  # takes no weights, so it sees some of the rows
    model = BaggingClassifier(member, 5, max_samples=0.3, random_state=0).fit(X, rare)
    with pytest.raises(ValueError, match="has seen 3 of 4 classes"):
        load_forest(model)


@pytest.mark.parametrize("y", [BINARY, WORDS], ids=["binary", "words"])
def test_voting_by_probabilities(y):
    members = [("tree", DecisionTreeClassifier(max_depth=3)), ("forest", RandomForestClassifier(5, random_state=0))]
    model = VotingClassifier(members, voting="soft", weights=[1, 3]).fit(X, y)
    forest, desired = load_forest(model), model.predict_proba(X)
    assert_close(forest.predict(X), desired if forest.n_outputs > 1 else desired[:, 1])
    with pytest.raises(ValueError, match="voting='soft'"):
        load_forest(model.set_params(voting="hard"))


class OwnVoting(VotingClassifier):
    pass


class OwnMean(VotingRegressor):
    pass


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (VotingClassifier([("boosting", gbc(n_estimators=2))], voting="soft"), WORDS),
        (OwnVoting([("boosting", gbc(n_estimators=2))], voting="soft"), WORDS),
        (OwnMean([("counts", HistGradientBoostingRegressor(loss="poisson", max_iter=2))]), abs(Y)),
        (BaggingClassifier(HistGradientBoostingClassifier(max_iter=2), 2), WORDS),
        (BaggingRegressor(HistGradientBoostingRegressor(loss="poisson", max_iter=2), 2), abs(Y)),
        (VotingRegressor([("counts", HistGradientBoostingRegressor(loss="poisson", max_iter=2))]), abs(Y)),
    ],
    ids=[
        "voting probabilities",
        "a subclass, probabilities",
        "a subclass, counts",
        "bagging probabilities",
        "bagging counts",
        "voting counts",
    ],
)
def test_means_of_functions_of_sums_are_refused(model, y):
    with pytest.raises(ValueError, match=r"member '(boosting|0|counts)' is not a sum of trees"):
        load_forest(model.fit(X, y))


@pytest.mark.parametrize(
    "member", [gbr(n_estimators=4), DecisionTreeRegressor(max_depth=3), HistGradientBoostingRegressor(max_iter=3)]
)
def test_a_regressor_for_every_target(member):
    model = MultiOutputRegressor(member).fit(X, Y2)
    forest = load_forest(model)
    assert_close(forest.predict(X), model.predict(X))
    assert forest.output_names == ("y0", "y1")


def test_a_classifier_for_every_target():
    model = MultiOutputClassifier(RandomForestClassifier(4, random_state=0)).fit(X, TARGETS)
    forest = load_forest(model)
    parts = [p[:, 1:] if p.shape[1] == 2 else p for p in model.predict_proba(X)]
    assert_close(forest.predict(X), np.hstack(parts))
    assert forest.output_names == ("y0", "y1=0", "y1=1", "y1=2", "y2")


@pytest.mark.parametrize("member", [gbc(n_estimators=3), HistGradientBoostingClassifier(max_iter=3)])
def test_scores_of_one_class_against_the_others(member):
    model = OneVsRestClassifier(member).fit(X, WORDS)
    forest = load_forest(model)
    assert_close(forest.predict(X), model.decision_function(X))
    assert forest.output_names == ("a", "b", "c")
    two = OneVsRestClassifier(member).fit(X, BINARY)
    assert_close(load_forest(two).predict(X), np.ravel(two.decision_function(X)))
    with pytest.raises(ValueError, match=r"no decision_function.*estimators_"):
        load_forest(OneVsRestClassifier(DecisionTreeClassifier()).fit(X, WORDS))


SCALERS = [StandardScaler(), StandardScaler(with_std=False), MinMaxScaler((2, 5)), MaxAbsScaler(), RobustScaler(), None]


@pytest.mark.parametrize("scaler", [*SCALERS, FunctionTransformer()], ids=str)
@pytest.mark.parametrize("y", [Y, Y2], ids=["one target", "two targets"])
def test_linear_functions_of_the_target(scaler, y):
    model = TransformedTargetRegressor(RandomForestRegressor(4, random_state=0), transformer=scaler).fit(X, y * 7 + 3)
    assert_close(load_forest(model).predict(X), model.predict(X))


@pytest.mark.parametrize(
    "model",
    [
        TransformedTargetRegressor(gbr(), transformer=PowerTransformer()),
        TransformedTargetRegressor(gbr(), func=np.sqrt, inverse_func=np.square),
    ],
    ids=["power", "sqrt"],
)
def test_other_functions_of_the_target_are_refused(model):
    with pytest.raises(ValueError, match=r"not known to be linear.*regressor_"):
        load_forest(model.fit(X, Y - Y.min()))
