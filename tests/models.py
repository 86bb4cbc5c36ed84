"""The zoo: small models of every supported kind, fitted once on data with ties."""

from functools import cache

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)
from strategies import tied_data

RNG = np.random.default_rng(0)
X = tied_data(RNG, 120, 4)
GAPS = np.where(RNG.random(X.shape) < 0.15, np.nan, X)
WEIGHTS = RNG.integers(0, 3, size=120)
Y = X[:, 0] * X[:, 1] + RNG.normal(scale=0.1, size=120)
Y2 = np.column_stack([Y, X[:, 2] - Y])
LABELS = np.digitize(Y, np.quantile(Y, [0.4, 0.7]))
BINARY = LABELS > 0
WORDS = np.array(["a", "b", "c"])[LABELS]
TARGETS = np.column_stack([BINARY, LABELS, np.zeros(120)]).astype(int)


def gbr(**options):
    return GradientBoostingRegressor(**{"n_estimators": 12, "random_state": 0} | options)


def gbc(**options):
    return GradientBoostingClassifier(**{"n_estimators": 12, "random_state": 0} | options)


def rf(**options):
    return RandomForestRegressor(12, random_state=0, **options)


def rfc(**options):
    return RandomForestClassifier(12, random_state=0, **options)


def averaged():
    """Forests and single trees: every class with every kind of target, and missing values."""
    many, one = {"n_estimators": 12, "random_state": 0}, {"random_state": 0}
    for regressor, options in (
        (RandomForestRegressor, many),
        (ExtraTreesRegressor, many),
        (DecisionTreeRegressor, one),
        (ExtraTreeRegressor, one),
    ):
        for kind, y in {"": Y, " 2 targets": Y2, " NaN": Y}.items():
            yield f"{regressor.__name__}{kind}", (regressor(**options), y)
    for classifier, options in (
        (RandomForestClassifier, many),
        (ExtraTreesClassifier, many),
        (DecisionTreeClassifier, one),
        (ExtraTreeClassifier, one),
    ):
        for kind, y in {" binary": BINARY, " words": WORDS, " 3 targets": TARGETS}.items():
            yield f"{classifier.__name__}{kind}", (classifier(**options), y)


# Name -> unfitted model and target. "NaN" and "weighted" in a name describe how it is fitted.
ZOO = dict(averaged()) | {
    "gbr": (gbr(), Y),
    "gbr weighted": (gbr(), Y),
    "gbr zero": (gbr(init="zero"), Y),
    "gbr median": (gbr(init=DummyRegressor(strategy="median")), Y),
    "gbr constant": (gbr(init=DummyRegressor(strategy="constant", constant=5)), Y),
    "gbr quantile": (gbr(loss="quantile", alpha=0.8), Y),
    "gbr absolute": (gbr(loss="absolute_error"), Y),
    "gbr huber": (gbr(loss="huber", learning_rate=0.7), Y),
    "gbr early": (gbr(n_estimators=300, n_iter_no_change=2, learning_rate=0.9), Y),
    "gbr subsample": (gbr(subsample=0.5, max_features=2, max_depth=None), Y),
    "gbr stumps": (gbr(max_depth=1, n_estimators=40), Y),
    "gbc binary": (gbc(), BINARY),
    "gbc words": (gbc(), WORDS),
    "gbc weighted": (gbc(), WORDS),
    "gbc zero": (gbc(init="zero"), LABELS),
    "gbc binary zero": (gbc(init="zero"), BINARY),
    "gbc exponential": (gbc(loss="exponential"), BINARY),
    "gbc prior": (gbc(init=DummyClassifier(strategy="prior")), LABELS),
    "gbc frequent": (gbc(init=DummyClassifier(strategy="most_frequent")), LABELS),
    "gbc uniform": (gbc(init=DummyClassifier(strategy="uniform")), LABELS),
    "rf poisson": (rf(criterion="poisson"), Y - Y.min()),
    "rf absolute": (rf(criterion="absolute_error"), Y),
    "rf monotonic": (rf(monotonic_cst=[1, 0, 0, -1]), Y),
    "rf best first": (rf(max_leaf_nodes=9), Y),
    "rfc monotonic": (rfc(monotonic_cst=[1, 0, 0, 0]), BINARY),
    "rfc balanced": (rfc(class_weight="balanced"), WORDS),
    "rfc balanced subsample": (rfc(class_weight="balanced_subsample", max_samples=0.3), LABELS),
    "rfc one class": (rfc(), np.full(120, "only")),
    "tree pruned": (DecisionTreeRegressor(random_state=0, ccp_alpha=1e-3), Y),
    "tree random splits": (DecisionTreeRegressor(random_state=0, splitter="random"), Y),
    "tree entropy": (DecisionTreeClassifier(random_state=0, criterion="entropy"), WORDS),
    "extra tree best": (ExtraTreeRegressor(random_state=0, splitter="best"), Y),
}


@cache
def fitted(name):
    """A fitted model of the zoo; not to be changed."""
    model, y = ZOO[name]
    return model.fit(GAPS if "NaN" in name else X, y, sample_weight=WEIGHTS if "weighted" in name else None)
