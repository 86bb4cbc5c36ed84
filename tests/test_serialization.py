"""Copies, pickles of every protocol, joblib, cloudpickle and skops, of every public object and every compiled one."""

import copy
import copyreg
import io
import pickle
from functools import cache

import cloudpickle
import joblib
import numpy as np
import pytest
import skops.io
from models import Y2, X, Y, gbr, rf
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVR

from fasthdmr import HDMR, KernelHDMR, TreeHDMR, _core, analytic, chisquare, decompose, kernels, load_forest, salib
from fasthdmr.inspection import dgsm, partial_dependence, pd_sensitivity

# Terms of more variables than `order` leave a large residual on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.ResidualWarning", "ignore::fasthdmr.ConcurvityWarning")

PROBLEM = {"num_vars": 4, "names": list("abcd"), "bounds": [[-3, 3]] * 4}
FORESTS = [load_forest(gbr(max_depth=2).fit(X, Y)), load_forest(rf(max_depth=3).fit(X, Y2))]
SHAPE = TreeHDMR(gbr(max_depth=2).fit(X, Y), basis="trees")


def through_joblib(thing):
    file = io.BytesIO()
    joblib.dump(thing, file)
    file.seek(0)
    return joblib.load(file)


def through_skops(thing):
    data = skops.io.dumps(thing)
    return skops.io.loads(data, trusted=skops.io.get_untrusted_types(data=data))


WAYS = {
    **{f"pickle {p}": lambda thing, p=p: pickle.loads(pickle.dumps(thing, p)) for p in range(6)},
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "joblib": through_joblib,
    "cloudpickle": lambda thing: pickle.loads(cloudpickle.dumps(thing)),
    "skops": through_skops,
}


def intervals(hdmr):
    return hdmr.sensitivity_.S_conf, hdmr.component(hdmr.subspaces_[0]).standard_error([0.0, 1.0])


def evaluated(hdmr):
    return hdmr.evaluate(X), hdmr.predict(X), hdmr.sensitivity_.S, hdmr.sensitivity_.ST


def of_indices(indices):
    return indices.S, indices.ST, indices.variance


def named_indices(result):
    return [result[key] for key in ("Sa", "S", "ST", "S_conf")]


# What there is, and what must be the same of its copies.
PUBLIC = {
    "forest": (lambda: FORESTS[0], lambda f: (f.predict(X), f.group_features(X, by="node"))),
    "forest of two outputs": (lambda: FORESTS[1], lambda f: (f.predict(X), f.group_features(X))),
    "trees": (lambda: SHAPE.fit(X), evaluated),
    "product of marginals": (lambda: TreeHDMR(SHAPE.estimators, basis="trees", measure="product").fit(X), evaluated),
    "splines": (lambda: TreeHDMR(SHAPE.estimators, basis="spline").fit(X), lambda h: (*evaluated(h), *intervals(h))),
    "bins": (lambda: TreeHDMR(SHAPE.estimators, basis="bins", smooth=False).fit(X), evaluated),
    "two outputs": (lambda: TreeHDMR(rf(max_depth=3).fit(X, Y2), order=1).fit(X), evaluated),
    "values": (lambda: HDMR(order=1).fit(X, Y), lambda h: (h.evaluate(X), *intervals(h))),
    "callable": (lambda: HDMR(SVR().fit(X, Y), order=1).fit(X), evaluated),
    "kernel machine": (lambda: KernelHDMR(SVR(kernel="poly", degree=2).fit(X, Y)).fit(X), evaluated),
    "kernel ridge": (lambda: KernelHDMR(KernelRidge(kernel=kernels.PolynomialKernel(2)).fit(X, Y)).fit(X), evaluated),
    "columns": (lambda: decompose(X**2, [0, 1, 2, 3], y=Y), lambda d: (d.evaluate(X**2), d.sensitivity.S)),
    "indices": (lambda: fitted("values").sensitivity_, of_indices),
    "component": (lambda: fitted("values").component(0), lambda c: (c(X[:, :1]), c.standard_error([0.0]))),
    "component of trees": (lambda: fitted("trees").component((0, 1)), lambda c: (c(X[:, :2]),)),
    "decomposition": (lambda: fitted("splines").decomposition_, lambda d: (d.evaluate(X), d.sensitivity.S)),
    "explanation": (lambda: fitted("splines").explain(X[:1]), lambda e: [str(e)]),
    "polynomial kernel": (lambda: kernels.PolynomialKernel(2), lambda k: (k(X, X),)),
    "Fourier kernel": (lambda: kernels.FourierKernel(2), lambda k: (k(X[:, :2] / 9, X[:, :2] / 9),)),
    "quadratic": (
        lambda: analytic.GaussianQuadratic(np.zeros(2), np.eye(2), 1.0, [1, 2], np.ones((2, 2))),
        lambda f: (f(X[:, :2]), *of_indices(f.sensitivity())),
    ),
    "Ishigami": (analytic.Ishigami, lambda f: (f(X[:, :3]), *of_indices(f.sensitivity()))),
    "product": (lambda: analytic.Product(3, 1.0, 2.0), lambda f: of_indices(f.sensitivity())),
    "polynomial": (lambda: analytic.SymmetricPolynomial(4, 2, mu=0.5, sigma=1.0), lambda f: (f.variance,)),
    "chi-square": (lambda: chisquare.test([30, 20, 10], [0.5, 0.3, 0.2]), lambda r: (r.statistic, r.pvalue)),
    "moments": (lambda: chisquare.moments([0.5, 0.3, 0.2], 60), lambda m: [str(m)]),
    "simulation": (lambda: chisquare.simulate([0.5, 0.3, 0.2], 60, 100, random_state=0), lambda s: [str(s)]),
    "partial dependence": (lambda: partial_dependence(SHAPE.estimators, X, [0, 1]), lambda b: (b["average"],)),
    "indices of partial dependence": (lambda: pd_sensitivity(SHAPE.estimators, X), of_indices),
    "DGSM": (lambda: dgsm(SVR().fit(X, Y), X), lambda d: [str(d)]),
    "SALib's result": (lambda: salib.analyze(PROBLEM, X, Y, maxorder=1), named_indices),
}
REFUSED = {("DGSM", "skops")}  # keys of a dictionary that JSON does not support


@cache
def fitted(name):
    return PUBLIC[name][0]()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", PUBLIC)
def test_a_copy_is_the_same(name, way):
    thing, probe = fitted(name), PUBLIC[name][1]
    desired = probe(thing)  # first, so that what was worked out goes along
    if (name, way) in REFUSED:
        with pytest.raises(TypeError):
            WAYS[way](thing)
        return
    twin = WAYS[way](thing)
    assert type(twin) is type(thing)
    assert all(np.array_equal(a, b) for a, b in zip(probe(twin), desired, strict=True))


def core_objects():
    """Return an object of each compiled class."""
    forest = FORESTS[0].core
    columns = _core.TreeColumns([(forest, 0, "tree", "all")], 1)
    marginals = _core.Marginals([forest], X, weight=None, n_threads=1)
    trees = _core.ProductTrees([forest], 0, [np.ones(forest.n_trees)], marginals)
    spans = _core.Spans([(0, 0, [0.0, 1.0, 2.0], False, ([], []), False)], [(0,)], [[0]])
    sums = _core.array_sums(spans, X, weight=None, values=X[:, :1].copy(), n_threads=1)
    gram = _core.SpanGram(sums, X, None, "all", 1)
    evaluators = [kind(forest, 1) for kind in (_core.Prediction, _core.TreeFeatures, _core.NodeFeatures)]
    return [
        *(forest, *evaluators, columns, marginals, trees),
        *(_core.ProductComponents(trees, 2, None, 1), spans, sums, gram),
        *(gram.ridge_system([0], 1.0), _core.PositiveMatrix(np.eye(2), 1)),
    ]


CORE_OBJECTS = {type(thing).__name__: thing for thing in core_objects()}
STATEFUL = {"Forest": FORESTS[0].core.__getstate__(), "Marginals": CORE_OBJECTS["Marginals"].__getstate__()}
every_class = pytest.mark.parametrize("name", CORE_OBJECTS)


def test_every_compiled_class_is_here():
    assert {name for name, kind in vars(_core).items() if isinstance(kind, type)} == set(CORE_OBJECTS)


@every_class
def test_objects_cannot_be_made_by_new_alone(name):
    kind = getattr(_core, name)
    calls = [
        lambda: object.__new__(kind),
        lambda: kind.__mro__[1].__new__(kind),
        lambda: copyreg._reconstructor(kind, object, None),
        lambda: copyreg._reconstructor(kind, kind.__mro__[1], None),
        lambda: type("Mine", (kind,), {}),
        lambda: kind.__new__(kind),
        lambda: copyreg.__newobj__(kind),
        lambda: kind(),
    ]
    for call in calls:
        with pytest.raises(TypeError):
            call()


@every_class
@pytest.mark.parametrize("way", [*WAYS, "reduce", "reduce_ex 0", "reduce of object", "copyreg 0"])
def test_compiled_objects_are_copied_or_refuse_it(name, way):
    ways = WAYS | {
        "reduce": lambda thing: thing.__reduce__(),
        "reduce_ex 0": lambda thing: thing.__reduce_ex__(0),
        "reduce of object": lambda thing: object.__reduce__(thing),
        "copyreg 0": lambda thing: copyreg._reduce_ex(thing, 0),
    }
    if name in STATEFUL and not way.endswith(("object", "copyreg 0")):
        twin = ways[way](CORE_OBJECTS[name])
        twin = twin[0](*twin[1]) if "reduce" in way else twin
        assert pickle.dumps(twin) == pickle.dumps(CORE_OBJECTS[name])
        return
    with pytest.raises(TypeError):
        ways[way](CORE_OBJECTS[name])


JUNK = [None, 7, -1, 2**63, 1e300, "text", b"", [], [0, 1], np.ones((2, 2)), np.full(3, np.nan), ["x"], {}]


@pytest.mark.parametrize("name", STATEFUL)
def test_a_damaged_state_is_refused(name):
    kind, state = getattr(_core, name), STATEFUL[name]
    damaged = [(), state[:-1], (*state, 1), (None,) * len(state)]
    damaged += [(*state[:k], junk, *state[k + 1 :]) for k in range(len(state)) for junk in JUNK]
    for other in damaged:
        with pytest.raises((ValueError, TypeError, OverflowError)):
            kind(other)
    for other in (None, 3, "text", [1, 2]):
        with pytest.raises(TypeError):
            kind(other)


@pytest.mark.parametrize("name", ["left", "right", "feature", "tree_offsets", "tree_output"])
def test_a_state_with_hostile_numbers_is_refused(name):
    number = 1 + ["", "", "tree_offsets", "left", "right", "feature", "", "", "", "tree_output"].index(name)
    for value in (-(2**63), -2, 2**31, 2**63 - 1):
        state = list(STATEFUL["Forest"])
        state[number] = state[number].copy()
        state[number][0] = value
        with pytest.raises(ValueError, match=r".+"):
            _core.Forest(tuple(state))


@pytest.mark.parametrize(
    ("damage", "match"),
    [
        (lambda t, w: t[0].__setitem__(0, np.nan), "ascend"),
        (lambda t, w: t.__setitem__(0, t[0][::-1]), "ascend"),
        (lambda t, w: t[0].__setitem__(1, t[0][0]), "ascend"),
        (lambda t, w: w[0].__setitem__(1, np.nan), "ascend"),
        (lambda t, w: w[0].__setitem__(1, 1e9), "ascend"),
        (lambda t, w: w[0].__setitem__(0, -1.0), "positive and finite"),
        (lambda t, w: w[0].__setitem__(-1, np.inf), "positive and finite"),
        (lambda t, w: w[0].__setitem__(slice(None), 0.0), "positive and finite"),
        (lambda t, w: w.__setitem__(0, w[0][:-1]), "every rank"),
        (lambda t, w: w.pop(), "every variable"),
    ],
)
def test_invalid_marginals_are_refused(damage, match):
    thresholds, weights = ([part.copy() for part in parts] for parts in STATEFUL["Marginals"][:2])
    damage(thresholds, weights)
    with pytest.raises(ValueError, match=match):
        _core.Marginals((thresholds, weights, STATEFUL["Marginals"][2]))


def test_marginal_laws_of_other_trees_are_refused():
    thresholds, weights, comparison = STATEFUL["Marginals"]
    others = _core.Marginals(([part + np.float32(0.01) for part in thresholds], weights, comparison))
    forest = FORESTS[0].core
    with pytest.raises(ValueError, match="other forests"):
        _core.ProductTrees([forest], 0, [np.ones(forest.n_trees)], others)


@pytest.mark.parametrize("kind", [type(FORESTS[0]), TreeHDMR, HDMR, KernelHDMR], ids=lambda kind: kind.__name__)
def test_an_empty_object_is_copied_and_refused(kind):
    empty = kind.__new__(kind)
    for thing in (empty, copy.copy(empty), pickle.loads(pickle.dumps(empty))):
        with pytest.raises(AttributeError):
            thing.predict(X)
