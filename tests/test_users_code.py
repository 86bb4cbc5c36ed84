"""What users hand over: functions and models that write into their arguments, labels, and wrong parameters."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.cluster import KMeans
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeRegressor
from sklearn.tree._tree import Tree
from tolerance import assert_close

from fasthdmr import HDMR, KernelHDMR, TreeHDMR, inspection, load_forest

# Trees have steps, and more variables than components, so residuals are large.
pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.ResidualWarning")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3)) + 5
Y = X[:, 0] + X[:, 1] * X[:, 2]
W = RNG.uniform(0.5, 2, size=200)
LABELS = np.greater(Y, np.median(Y)).astype(int)


def overwriting(rows):
    """Return a function of the rows, and leave zeros in their place."""
    values = np.array(rows)[:, 0] + np.array(rows)[:, 1] * np.array(rows)[:, 2]
    rows[:] = 0
    return values


class Overwriting(RegressorMixin, BaseEstimator):
    """A regressor that leaves zeros in the place of everything that it is given."""

    def fit(self, X, y, sample_weight=None):
        self.coef_ = np.linalg.lstsq(X, y)[0]
        for given in (X, y, sample_weight):
            if given is not None:
                given[:] = 0
        return self

    def predict(self, X):
        values = X @ self.coef_
        X[:] = 0
        return values


class OverwritingFolds(KFold):
    """A splitter that leaves zeros in the place of everything that it is given."""

    def split(self, X, y):
        splits = list(super().split(X, y))
        X[:], y[:] = 0, 0
        return splits


class OverwritingTree(DecisionTreeRegressor):
    """A tree model that leaves zeros in the place of everything that it is given."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X.copy(), y.copy(), sample_weight)
        X[:], y[:] = 0, 0
        return self


SCALED = make_pipeline(StandardScaler(copy=False), LinearRegression()).fit(X.copy(), Y.copy())
CALLS = {
    "HDMR.fit": lambda X, Y, W: HDMR(overwriting).fit(X, Y, W).sensitivity_.S,
    "fidelity": lambda X, Y, W: HDMR(overwriting).fit(X.copy()).fidelity(X, W),
    "residual": lambda X, Y, W: HDMR(overwriting).fit(X.copy()).residual(X),
    "explain": lambda X, Y, W: HDMR(overwriting).fit(X.copy()).explain(X[3]).output,
    "standard_error": lambda X, Y, W: HDMR(overwriting).fit(X).component(0).standard_error(X[:, 0]),
    "predict": lambda X, Y, W: HDMR(Overwriting().fit(X.copy(), Y.copy())).fit(X, Y, W).sensitivity_.S,
    "transformer": lambda X, Y, W: HDMR(SCALED).fit(X, Y, W).sensitivity_.S,
    "partial_dependence": lambda X, Y, W: (
        inspection.partial_dependence(overwriting, X, (0, 1), grid_resolution=4).average
    ),
    "conditional": lambda X, Y, W: inspection.partial_dependence(overwriting, X, 0, kind="conditional").average,
    "pd_sensitivity": lambda X, Y, W: inspection.pd_sensitivity(overwriting, X, sample_weight=W).S,
    "dgsm": lambda X, Y, W: inspection.dgsm(overwriting, X, weights={0: overwriting_weight}, sample_weight=W).S,
    "fit of a machine": lambda X, Y, W: (
        KernelHDMR(make_pipeline(StandardScaler(copy=False), SVR(kernel="linear"))).fit(X, Y).sensitivity_.S
    ),
    "fit of trees": lambda X, Y, W: TreeHDMR(OverwritingTree(max_depth=2, random_state=0)).fit(X, Y, W).sensitivity_.S,
    "folds": lambda X, Y, W: (
        TreeHDMR(GradientBoostingRegressor(n_estimators=3, random_state=0), combine="ridge", cv=OverwritingFolds(3))
        .fit(X, Y, W)
        .sensitivity_.S
    ),
}


def overwriting_weight(values):
    weights = np.abs(values[:, 0])
    values[:] = 0
    return weights


HARMLESS = {
    "HDMR.fit": lambda X: HDMR(function).fit(X, Y, W).sensitivity_.S,
    "fidelity": lambda X: HDMR(function).fit(X).fidelity(X, W),
    "partial_dependence": lambda X: inspection.partial_dependence(function, X, (0, 1), grid_resolution=4).average,
    "pd_sensitivity": lambda X: inspection.pd_sensitivity(function, X, sample_weight=W).S,
}


def function(rows):
    rows = np.array(rows)
    return rows[:, 0] + rows[:, 1] * rows[:, 2]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("name", CALLS)
def test_nothing_of_the_callers_is_written_to(name, order):
    rows, target, weights = np.array(X, order=order), Y.copy(), W.copy()
    found = CALLS[name](rows, target, weights)
    assert np.array_equal(rows, X) and np.array_equal(target, Y) and np.array_equal(weights, W)
    if name in HARMLESS:
        assert_close(found, HARMLESS[name](X))


def test_frames_of_the_callers_are_not_written_to():
    pd = pytest.importorskip("pandas")

    def of_frames(rows):
        values = function(rows)
        rows.iloc[:, 0] = 0.0
        return values

    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    found = inspection.partial_dependence(of_frames, frame, "b", grid_resolution=4).average
    assert_close(found, inspection.partial_dependence(function, X, 1, grid_resolution=4).average)
    inspection.pd_sensitivity(of_frames, frame)
    assert np.array_equal(frame, X)


def test_functions_may_return_the_same_array_at_each_call():
    buffer = np.empty(len(X))

    def reusing(rows):
        buffer[:] = function(rows)
        return buffer

    for diagnose in (inspection.pd_sensitivity, inspection.dgsm):
        assert_close(diagnose(reusing, X).S, diagnose(function, X).S)


CLASSIFIERS = {
    "boosting": TreeHDMR(GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, LABELS)),
    "forest": TreeHDMR(RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, LABELS)),
    "search": TreeHDMR(GridSearchCV(RandomForestClassifier(5, max_depth=2), {"max_features": [1, 2]}).fit(X, LABELS)),
    "loaded": TreeHDMR(load_forest(GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, LABELS))),
    "not fitted": TreeHDMR(GradientBoostingClassifier(n_estimators=5, random_state=0)),
    "HDMR": HDMR(LogisticRegression().fit(X, LABELS)),
    "outliers": HDMR(IsolationForest(n_estimators=5, random_state=0).fit(X)),
    "kernel": KernelHDMR(SVC(kernel="linear").fit(X, LABELS)),
}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_scores_are_not_compared_with_labels(name):
    hdmr = CLASSIFIERS[name].fit(X, LABELS)
    for labels in (LABELS, LABELS > 0, LABELS.astype(float), 2 * LABELS - 1, list(LABELS), LABELS[:, None]):
        with pytest.raises(ValueError, match=r"whole numbers.*classifier's score.*Use fidelity\(X\)"):
            hdmr.score(X, labels)
    with pytest.raises(ValueError, match=r"holds text.*Use fidelity\(X\)"):
        hdmr.score(X, LABELS.astype(str))
    output = hdmr.predict(X) + hdmr.residual(X)
    assert_close(hdmr.score(X, output), hdmr.fidelity(X))  # a score is no label


@pytest.mark.parametrize("name", ["boosting", "HDMR", "kernel"])
def test_indices_of_scores_are_not_shares_of_the_variance_of_labels(name):
    hdmr = clone(CLASSIFIERS[name]).set_params(normalise="data")
    with pytest.raises(ValueError, match="whole numbers"):
        hdmr.fit(X, LABELS)


def test_regressors_of_labels_are_compared_with_them():
    models = [GradientBoostingClassifier(n_estimators=5, max_depth=d, random_state=0).fit(X, LABELS) for d in (1, 2)]
    assert 0 < TreeHDMR(models).fit(X, LABELS).score(X, LABELS) < 1  # "ridge"
    assert 0 < HDMR().fit(X, LABELS).score(X, LABELS) < 1


def test_models_without_scores_have_no_output():
    clusters = KMeans(3, random_state=0).fit(X)
    votes = VotingClassifier([("a", LogisticRegression()), ("b", SVC())]).fit(X, LABELS)
    for model, why in ((clusters, "a clusterer: .*cluster numbers"), (votes, "a classifier: .*returns labels")):
        for call in (
            lambda model=model: inspection.partial_dependence(model, X, 0),
            lambda model=model: inspection.pd_sensitivity(model, X),
            lambda model=model: inspection.dgsm(model, X),
            lambda model=model: HDMR(model).fit(X),
        ):
            with pytest.raises(ValueError, match=f"must be a fitted regressor or classifier with scores, got .*{why}"):
                call()
    inspection.partial_dependence(lambda X: clusters.transform(X)[:, 0], X, 0)


@pytest.mark.parametrize(
    "interactions", [5, "all", True, iter([(0, 1)]), {"a": 1}, [("b",)], ["b"], [0], ("a", "b"), [()], [(0, 1), 2]]
)
@pytest.mark.parametrize("kind", ["trees", "product", "function"])
def test_invalid_interactions_are_refused(kind, interactions):
    pd = pytest.importorskip("pandas")
    hdmr = HDMR(function, interactions=interactions)
    if kind != "function":
        measure = "product" if kind == "product" else "empirical"
        model = GradientBoostingRegressor(n_estimators=3, max_depth=2).fit(X, Y)
        hdmr = TreeHDMR(model, interactions=interactions, measure=measure)
    with pytest.raises(ValueError, match=r"interactions must be .*list of subspaces.*such as \[\('a', 'b'\)\], got"):
        hdmr.fit(pd.DataFrame(X, columns=["a", "b", "c"]))


def test_interactions_beyond_the_order():
    with pytest.raises(ValueError, match=r"interactions has \(0, 1, 2\), of order 3, but order=2"):
        HDMR(function, interactions=[(0, 1, 2)]).fit(X)
    with pytest.raises(TypeError, match=r"interactions gives variables by index or name, got 0.5"):
        HDMR(function, interactions=[(0.5, 1)]).fit(X)
    for pairs in ([(0, 1)], {(1, 0)}, np.array([[0, 1]]), ((0, 1),)):
        assert HDMR(function, interactions=pairs).fit(X).subspaces_ == [(0,), (1,), (2,), (0, 1)]


@pytest.mark.parametrize("estimator", [TreeHDMR, HDMR, KernelHDMR])
def test_errors_suggest_the_right_parameter(estimator):
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'normalize'. Did you mean 'normalise'"):
        estimator(normalize="data")
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'zzz'. Parameters are .*normalise"):
        estimator(zzz=1)


def test_trees_without_nodes():
    forest = RandomForestRegressor(3, random_state=0).fit(X, Y)
    forest.estimators_[1].tree_ = Tree(3, np.array([1], dtype=np.intp), 1)
    for model in (forest.estimators_[1], forest):
        with pytest.raises(ValueError, match=rf"Tree \d of this {type(model).__name__} has no nodes.*Fit it anew"):
            load_forest(model)


CLASSES = np.digitize(Y, np.quantile(Y, [0.3, 0.6]))
TWO, ONE = np.column_stack([Y, -Y]), Y


@pytest.mark.parametrize("batch", [1 << 14, 4], ids=["one batch", "several batches"])
@pytest.mark.parametrize(
    ("model", "before", "after", "shapes"),
    [
        (RandomForestClassifier, LABELS, CLASSES, r"shape \(1, 2\) .*the model \(1, 3\)"),
        (RandomForestClassifier, CLASSES, LABELS, r"shape \(1, 3\) .*the model \(1, 2\)"),
        (RandomForestRegressor, ONE, TWO, r"shape \(1, 1\) .*the model \(2, 1\)"),
        (ExtraTreesRegressor, TWO, ONE, r"shape \(2, 1\) .*the model \(1, 1\)"),
    ],
)
def test_trees_of_other_outputs_than_the_model(model, before, after, shapes, batch, monkeypatch):
    monkeypatch.setattr("fasthdmr.loaders.sklearn_trees._BATCH", batch)
    grown = model(3, warm_start=True, max_depth=1, random_state=0).fit(X, before)
    grown.set_params(n_estimators=6).fit(X, after)
    with pytest.raises(ValueError, match=rf"do not fit together: tree 0 has values of {shapes}.*fit it anew"):
        load_forest(grown)


def test_stages_of_other_outputs_than_the_model():
    grown = GradientBoostingClassifier(n_estimators=2).fit(X, CLASSES)
    grown.estimators_ = grown.estimators_[:, :2]  # scikit-learn itself fails after such a warm start
    with pytest.raises(ValueError, match=r"do not fit together: 2 trees a stage for 3 outputs.*fit it anew"):
        load_forest(grown)
