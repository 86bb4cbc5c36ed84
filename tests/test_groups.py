"""Groups of columns as one variable: joint spans, indices, components and errors."""

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVR
from tolerance import assert_close

import fasthdmr
from fasthdmr import HDMR, KernelHDMR, TreeHDMR
from fasthdmr._spans import planning

RNG = np.random.default_rng(0)
ISHIGAMI = fasthdmr.analytic.Ishigami()
X = RNG.uniform(-np.pi, np.pi, size=(2000, 3))
Y = ISHIGAMI(X)
GROUPS = {"both": [0, 2]}
MODEL = GradientBoostingRegressor(n_estimators=60, max_depth=3, random_state=0).fit(X, Y)
TREES = TreeHDMR(MODEL, order=None).fit(X)


def index_of(hdmr, subspace):
    return hdmr.sensitivity_.S[hdmr.subspaces_.index(subspace)]


@pytest.mark.parametrize("n_rows", [800, 2000])
def test_group_of_a_function_has_the_index_of_what_is_inside(n_rows):
    hdmr, plain = (HDMR(ISHIGAMI, feature_groups=g).fit(X[:n_rows]) for g in (GROUPS, None))
    assert hdmr.subspaces_ == [(0,), (1,), (0, 1)]
    assert list(hdmr.feature_names_) == ["both", "x1"]
    assert list(hdmr.get_feature_names_out()) == ["both", "x1", "both & x1"]
    inside = sum(index_of(plain, u) for u in [(0,), (2,), (0, 2)])
    assert_close(index_of(hdmr, (0,)), inside, 0.01, reason="the splines of a pair are fewer than those of a variable")
    assert abs(index_of(hdmr, (0,)) - 0.5576) < 3 * hdmr.sensitivity_.S_conf[0] < 0.2
    assert_close(hdmr.sensitivity_.ST[0], hdmr.sensitivity_.S[[0, 2]].sum(), 1e-12)


@pytest.mark.filterwarnings("ignore::fasthdmr.ResidualWarning")
@pytest.mark.parametrize("parameters", [{}, {"smooth": False}, {"basis": "bins"}, {"basis": "trees"}], ids=str)
def test_groups_of_trees(parameters):
    hdmr = TreeHDMR(MODEL, feature_groups=GROUPS, **parameters).fit(X)
    total = hdmr.sensitivity_.S.sum() + hdmr.residual_
    assert_close(total, 1.0, 1e-9)
    assert_close(hdmr.predict(X) + hdmr.residual(X), MODEL.predict(X), 1e-9)
    assert hdmr.sensitivity_.S_conf.shape == (len(hdmr.subspaces_),)


def test_group_of_trees_has_the_index_of_what_is_inside():
    hdmr = TreeHDMR(MODEL, feature_groups=GROUPS).fit(X)
    inside = sum(index_of(TREES, u) for u in [(0,), (2,), (0, 2)])
    assert_close(index_of(hdmr, (0,)), inside, 0.02, reason="the splines of a pair are fewer than those of a variable")


def test_faithful_group_keeps_all_trees_inside():
    """Trees on the columns of a group only are in its component and below: nothing but a constant."""
    model = GradientBoostingRegressor(n_estimators=30, max_depth=4, random_state=0).fit(X[:, [0, 2]], Y)
    hdmr = TreeHDMR(model, feature_groups={"all": [0, 1]}, smooth=False).fit(X[:, [0, 2]])
    assert hdmr.subspaces_ == [(0,)]
    assert_close(hdmr.component("all")(X[:, [0, 2]]) + hdmr.intercept_, model.predict(X[:, [0, 2]]), 1e-9)


@pytest.mark.parametrize(("cls", "model"), [(HDMR, ISHIGAMI), (TreeHDMR, MODEL)], ids=["function", "trees"])
def test_one_column_per_group_is_the_plain_result_to_the_bit(cls, model):
    plain, grouped = (cls(model, feature_groups=g).fit(X) for g in (None, {"x1": [1], "first": [0]}))
    assert grouped.subspaces_ == plain.subspaces_
    assert grouped.feature_names_ == ("first", "x1", "x2")
    for name in ("Sa", "S", "ST", "S_conf"):
        assert np.array_equal(getattr(grouped.sensitivity_, name), getattr(plain.sensitivity_, name))
    assert np.array_equal(grouped.evaluate(X), plain.evaluate(X))


def test_components_take_the_columns_of_the_list_or_a_frame():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    hdmr = HDMR(lambda X: ISHIGAMI(np.asarray(X)), feature_groups={"g": ["c", "a"]}).fit(frame)
    component, values = hdmr.component(["b", "g"]), hdmr.evaluate(frame)
    assert component.arguments == ("b", "c", "a")
    assert component.names == ("g", "b")
    assert repr(component).startswith("Component of g & b\n")
    assert np.array_equal(component(X[:, [1, 2, 0]]), values[:, 2])
    assert np.array_equal(component(frame[["a", "b", "c"]]), values[:, 2])
    assert np.array_equal(hdmr.component("g")(frame[["a", "c"]]), values[:, 0])
    assert component.bounds.shape == (3, 2)
    assert np.array_equal(hdmr.component("g")(X), values[:, 0])
    with pytest.raises(ValueError, match=r"shape \(N, 2\)"):
        hdmr.component("g")(X[:, :1])
    with pytest.raises(ValueError, match="standard_error is for components of one variable, got g"):
        hdmr.component("g").standard_error(X[:, :2])
    with pytest.raises(ValueError, match="one numeric variable has a Fourier series"):
        hdmr.component("g").fourier()
    assert hdmr.component("b").standard_error([0.0]).shape == (1,)


def test_groups_are_drawn_and_explained():
    hdmr = HDMR(ISHIGAMI, feature_groups=GROUPS).fit(X)
    display = fasthdmr.plotting.ComponentDisplay.from_estimator(hdmr, ["both", "x1"])
    assert display.axes_.ravel()[0].get_xlabel() == "x0"
    assert display.axes_.ravel()[0].get_ylabel() == "x2"
    with pytest.raises(ValueError, match="cannot be drawn"):
        fasthdmr.plotting.ComponentDisplay.from_estimator(hdmr, [("both", "x1")])
    explanation = hdmr.explain([1.0, 2.0, 3.0])
    assert explanation.values[explanation.subspaces.index((0, 1))] == ((1.0, 3.0), 2.0)
    assert "(1, 3) & 2" in str(explanation)
    explanation.plot()
    matplotlib.pyplot.close("all")


def test_constant_columns_of_a_group_do_not_matter():
    flat = np.column_stack([X, np.ones(len(X))])
    grouped = HDMR(lambda X: ISHIGAMI(X[:, :3]), feature_groups={"x0": [0, 3]})
    with pytest.raises(ValueError, match="a column has that name"):
        grouped.fit(flat)
    grouped.set_params(feature_groups={"g": [0, 3]}).fit(flat)
    plain = HDMR(ISHIGAMI).fit(X)
    assert_close(grouped.sensitivity_.S, plain.sensitivity_.S, 1e-9)


def test_pairs_of_groups_are_screened(monkeypatch):
    monkeypatch.setattr(planning, "MAX_DUAL_ROWS", 100)
    monkeypatch.setattr(planning, "MAX_TOUCHED_COLUMNS", 250)
    wide = RNG.normal(size=(600, 6))
    with pytest.warns(fasthdmr.PairsWarning, match="The weakest 7 of 10 pairs"):
        hdmr = HDMR(
            lambda X: X[:, 4] * X[:, 1] + X[:, 2] * X[:, 3] + X[:, 5] * X[:, 3], feature_groups={"g": [0, 1]}
        ).fit(wide)
    assert {(0, 3), (1, 2), (2, 4)} >= {u for u in hdmr.subspaces_ if len(u) == 2}


def test_groups_of_a_dictionary_of_columns():
    x = RNG.normal(size=(500, 3))
    columns = np.column_stack([x, x[:, 0] * x[:, 2], x[:, 0] * x[:, 1]])
    subspaces, beta = [0, 1, 2, (0, 2), (0, 1)], [1.0, 2.0, 3.0, 4.0, 5.0]
    grouped = fasthdmr.decompose(columns, subspaces, coef=beta, feature_groups=GROUPS)
    expected = fasthdmr.decompose(columns, [0, 1, 0, 0, (0, 1)], coef=beta)
    assert grouped.subspaces == [(0,), (1,), (0, 1)]
    assert grouped.feature_names == ("both", "x1")
    assert np.array_equal(grouped.evaluate(columns), expected.evaluate(columns))
    with pytest.raises(ValueError, match="in two groups"):
        fasthdmr.decompose(columns, subspaces, coef=beta, feature_groups={"g": [0, 1], "h": [1]})


def test_ridge_bootstrap_interactions_and_few_rows():
    hdmr = TreeHDMR(feature_groups=GROUPS, interactions=[], ci="bootstrap", random_state=0).fit(X[:300], Y[:300])
    assert hdmr.subspaces_ == [(0,), (1,)]
    assert np.isfinite(hdmr.sensitivity_.S_conf).all()
    assert hdmr.component("x1").standard_error([0.0]).shape == (1,)
    chosen = TreeHDMR(feature_groups=GROUPS, interactions=[("both", "x1")], random_state=0).fit(X[:300], Y[:300])
    assert chosen.subspaces_ == [(0,), (1,), (0, 1)]


@pytest.mark.parametrize(
    ("groups", "error", "message"),
    [
        ({"g": [0, 1], "h": [1, 2]}, ValueError, "column 'x1' in two groups, 'g' and 'h'"),
        ({"g": [0, 7]}, ValueError, "has the variable 7"),
        ({"g": ["Latitude"]}, ValueError, "'Latitude', which is not one"),
        ({"g": []}, ValueError, "is empty"),
        ({"x1": [0, 2]}, ValueError, "a column has that name"),
        ([[0, 1]], TypeError, "must be None or a dict"),
        ({3: [0, 1]}, TypeError, "must be None or a dict"),
    ],
)
def test_wrong_groups_are_refused(groups, error, message):
    for hdmr in (HDMR(ISHIGAMI, feature_groups=groups), TreeHDMR(MODEL, feature_groups=groups)):
        with pytest.raises(error, match=message):
            hdmr.fit(X)


def test_groups_that_are_too_large_are_refused():
    wide = RNG.normal(size=(300, 14))
    with pytest.raises(ValueError, match="put fewer columns into `feature_groups`"):
        HDMR(feature_groups={"g": list(range(13))}).fit(wide, wide[:, 0])


@pytest.mark.parametrize("order", [1, 2, None])
def test_components_of_groups_under_the_product_measure_are_sums_of_those_inside(order):
    plain = TreeHDMR(MODEL, measure="product", order=None).fit(X)
    hdmr = TreeHDMR(MODEL, measure="product", order=order, feature_groups=GROUPS).fit(X)
    assert hdmr.subspaces_ == [(0,), (1,), (0, 1)][: 2 if order == 1 else 3]
    inside = {(0,): [(0,), (2,), (0, 2)], (1,): [(1,)], (0, 1): [(0, 1), (1, 2), (0, 1, 2)]}
    values = dict(zip(plain.subspaces_, plain.evaluate(X[:50]).T, strict=True))
    for u, f in zip(hdmr.subspaces_, hdmr.evaluate(X[:50]).T, strict=True):
        assert_close(f, sum(values[v] for v in inside[u]), 1e-12)
        assert_close(index_of(hdmr, u), sum(index_of(plain, v) for v in inside[u]), 1e-12)
    assert_close(hdmr.sensitivity_.S.sum() + hdmr.residual_, 1.0, 1e-12)
    assert_close(hdmr.component("both")(X[:50][:, [0, 2]]), hdmr.evaluate(X[:50])[:, 0], 1e-12)


@pytest.mark.filterwarnings("ignore::fasthdmr.ResidualWarning")  # most interactions are left out
def test_interactions_of_groups_under_the_product_measure():
    model = GradientBoostingRegressor(n_estimators=20, max_depth=3, random_state=0).fit(np.c_[X, X[:, ::-1] ** 2], Y)
    rows = np.c_[X, X[:, ::-1] ** 2]
    hdmr = TreeHDMR(model, measure="product", feature_groups={"g": [0, 5]}, interactions=[("g", 2)]).fit(rows)
    assert [u for u in hdmr.subspaces_ if len(u) > 1] == [(0, 2)]


KERNELS = {
    "polynomial": {"kernel": "poly", "degree": 3, "coef0": 1.0},
    "Fourier": {"kernel": fasthdmr.kernels.FourierKernel(degree=2, gamma=0.3)},
    "ANOVA": {"kernel": fasthdmr.kernels.AnovaKernel(degree=2).fit(X)},
}


@pytest.mark.parametrize("kernel", KERNELS)
def test_groups_of_kernel_machines(kernel):
    machine = KernelRidge(alpha=0.1, **KERNELS[kernel]).fit(X[:200], Y[:200])
    hdmr = KernelHDMR(machine, feature_groups=GROUPS).fit(X[:500])
    assert hdmr.subspaces_ == [(0,), (1,), (0, 1)]
    assert_close(hdmr.predict(X[:50]), machine.predict(X[:50]), 1e-9)
    own = hdmr.evaluate(X[:50])[:, 0]
    assert_close(hdmr.component("both")(X[:50][:, [0, 2]]), own, 1e-9)
    pieces = [hdmr.kernel_component(u)(X[:20], X[:9]) for u in [(), *hdmr.subspaces_]]
    assert_close(sum(pieces), machine._get_kernel(X[:20], X[:9]), 1e-9)


def test_group_of_a_kernel_machine_sums_what_is_inside_if_variables_are_independent():
    machine = SVR(kernel="poly", degree=3, coef0=1.0).fit(X[:200], Y[:200])
    measure = [0.5, -1.0, 0.0], np.diag([1.0, 2.0, 0.5])
    hdmr, plain = (KernelHDMR(machine, measure=measure, feature_groups=g).fit(X) for g in (GROUPS, None))
    inside = sum(index_of(plain, u) for u in [(0,), (2,), (0, 2)])
    assert_close(index_of(hdmr, (0,)), inside, 1e-9)
