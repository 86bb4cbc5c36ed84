"""Reading kernel machines: all supported ones, the steps before them, and errors for others."""

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest, VarianceThreshold, f_regression
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Exponentiation, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import linear_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from tolerance import assert_close

from fasthdmr import KernelHDMR
from fasthdmr.kernels import AnovaKernel, FourierKernel, PolynomialKernel

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4)) * [1, 10, 0.1, 3] + [0, 100, -1, 5]
Z = (X - X.mean(axis=0)) / X.std(axis=0)
Y = Z[:, 0] + Z[:, 1] * Z[:, 2] - 0.5 * Z[:, 3] ** 2
NEW = X[:40] + RNG.normal(size=(40, 4)) * X.std(axis=0)
NEW_Z = (NEW - X.mean(axis=0)) / X.std(axis=0)
POLY = {"kernel": "poly", "degree": 3, "coef0": 0.5}


def output(model, rows):
    return getattr(model, "decision_function", model.predict)(rows)


def check(model, measure, new, rtol=1e-9):
    """The components sum to the machine's own output, at the rows of the measure and elsewhere."""
    hdmr = KernelHDMR(model).fit(measure)
    for rows in (measure, new):
        desired = output(model, rows)
        total = hdmr.intercept_ + hdmr.evaluate(rows).sum(axis=1)
        assert_close(total, desired, rtol)
        assert_close(hdmr.predict(rows), desired, rtol)
    return hdmr


def dot(degree):
    return ConstantKernel(0.7) * Exponentiation(DotProduct(0.8), degree) + WhiteKernel(0.1)


@pytest.mark.parametrize("gamma", ["scale", "auto", 0.2])
@pytest.mark.parametrize(
    "machine", [SVR(), NuSVR(), SVC(), NuSVC(), OneClassSVM(nu=0.3)], ids=lambda m: type(m).__name__
)
def test_support_vector_machines(machine, gamma):
    model = machine.set_params(**POLY, gamma=gamma).fit(Z, Y > 0 if isinstance(machine, SVC | NuSVC) else Y)
    check(model, Z, NEW_Z)
    model.set_params(kernel="linear").fit(Z, Y > 0 if isinstance(machine, SVC | NuSVC) else Y)
    assert check(model, Z, NEW_Z).subspaces_ == [(0,), (1,), (2,), (3,)]


def test_gamma_is_the_one_of_the_fit():
    model = SVR(**POLY, gamma="scale").fit(10 * Z, Y)
    assert abs(model._gamma * 4 - 1) > 0.5
    check(model, Z, NEW_Z)


def test_named_classes():
    model = SVC(**POLY).fit(Z, np.where(Y > 0, "b", "a"))
    hdmr = check(model, Z, NEW_Z)
    assert ((hdmr.predict(Z) > 0) == (model.predict(Z) == "b")).all()


def test_sparse_rows():
    from scipy.sparse import csr_array

    model = SVR(**POLY).fit(csr_array(Z), Y)
    hdmr = KernelHDMR(model).fit(Z)
    assert_close(hdmr.predict(NEW_Z), model.predict(csr_array(NEW_Z)), 1e-9)


@pytest.mark.parametrize("gamma", [None, 0.3])
@pytest.mark.parametrize("kernel", ["poly", "polynomial", "linear", DotProduct(0.5) ** 2, PolynomialKernel(2, 0.3)])
def test_kernel_ridge(kernel, gamma):
    both = np.column_stack([Y, Z[:, 1]])
    model = KernelRidge(kernel=kernel, gamma=gamma, degree=3, coef0=0.5).fit(Z, both)
    hdmr = KernelHDMR(model).fit(Z)
    assert_close(hdmr.intercept_ + hdmr.evaluate(NEW_Z).sum(axis=1), model.predict(NEW_Z), 1e-9)
    check(KernelRidge(kernel=kernel, gamma=gamma).fit(Z, Y), Z, NEW_Z)


@pytest.mark.parametrize("normalize_y", [False, True])
@pytest.mark.parametrize(
    "kernel",
    [dot(1), dot(2), dot(3), dot(2) + DotProduct(), DotProduct() * DotProduct(2.0), 2.0 * PolynomialKernel(2, 0.3)],
    ids=str,
)
def test_gaussian_processes(kernel, normalize_y):
    model = GaussianProcessRegressor(kernel, alpha=0.1, normalize_y=normalize_y, optimizer=None).fit(Z, 3 + 2 * Y)
    check(model, Z, NEW_Z)


def anova():
    return AnovaKernel(2).fit(Z[:, :4])


OURS = [FourierKernel(2, 0.3, 0.5), anova()]
MULTIPLES = [
    lambda k: k + WhiteKernel(0.1),
    lambda k: WhiteKernel(0.1) + k,
    lambda k: ConstantKernel(0.3) * k,
    lambda k: 0.3 * k + WhiteKernel(0.1),
    lambda k: ConstantKernel(0.3) * (k + 2.0 + WhiteKernel(0.1)) * ConstantKernel(3.0) + 0.4,
    lambda k: ConstantKernel(0.3) ** 2 * k + WhiteKernel(0.1) * DotProduct(),
]


@pytest.mark.parametrize("kernel", OURS, ids=lambda k: type(k).__name__)
@pytest.mark.parametrize("multiple", MULTIPLES, ids=range(len(MULTIPLES)))
def test_multiples_of_our_kernels(kernel, multiple):
    """Times a constant, plus a constant, plus noise: in every machine, and kernels' components too."""
    whole = multiple(kernel)
    for machine in (
        GaussianProcessRegressor(whole, alpha=0.1, normalize_y=True, optimizer=None),
        SVR(kernel=whole),
        KernelRidge(kernel=whole),
    ):
        hdmr = check(machine.fit(Z / 4, Y), Z / 4, NEW_Z / 4)
        others = NEW_Z[:5] / 4
        components = sum(hdmr.kernel_component(u)(Z / 4, others) for u in [(), *hdmr.subspaces_])
        assert_close(components, whole(Z / 4, others), 1e-9)


def test_a_multiple_that_the_gaussian_process_found():
    kernel = ConstantKernel(1.0) * FourierKernel(1, 0.3) + WhiteKernel(0.1)
    model = GaussianProcessRegressor(kernel).fit(Z / 4, Y)
    assert model.kernel_ != kernel
    check(model, Z / 4, NEW_Z / 4)


def test_a_gaussian_process_reads_the_kernel_it_found():
    model = GaussianProcessRegressor(DotProduct() ** 2, alpha=1.0).fit(Z, Y)
    assert model.kernel_ != model.kernel
    check(model, Z, NEW_Z)
    two = GaussianProcessRegressor(dot(2), optimizer=None, normalize_y=True).fit(Z, np.column_stack([Y, 1 + Z[:, 0]]))
    hdmr = KernelHDMR(two).fit(Z)
    assert_close(hdmr.predict(NEW_Z), two.predict(NEW_Z), 1e-9)


def test_searches_and_frozen_machines():
    search = GridSearchCV(SVR(**POLY), {"degree": [1, 2]}, cv=2).fit(Z, Y)
    check(search, Z, NEW_Z)
    check(FrozenEstimator(SVR(**POLY).fit(Z, Y)), Z, NEW_Z)


# --- what comes before --------------------------------------------------------------------------------------------

SCALERS = [
    StandardScaler(),
    StandardScaler(with_mean=False),
    StandardScaler(with_std=False),
    MinMaxScaler((-1, 2)),
    MaxAbsScaler(),
    RobustScaler(),
    RobustScaler(with_centering=False),
    RobustScaler(with_scaling=False),
    make_pipeline(StandardScaler(), MinMaxScaler()),
    make_pipeline(FunctionTransformer(), "passthrough", StandardScaler()),
    ColumnTransformer(
        [("a", StandardScaler(), [3, 1]), ("b", "passthrough", slice(2, 3))],
        remainder=MinMaxScaler(),
        transformer_weights={"a": 0.5},
    ),
]


@pytest.mark.parametrize("kernel", ["poly", FourierKernel(2, 0.3)], ids=str)
@pytest.mark.parametrize("scaler", SCALERS, ids=str)
def test_scalers(scaler, kernel):
    model = make_pipeline(scaler, SVR(kernel=kernel, degree=2, coef0=1.0)).fit(X, Y)
    check(model, X, NEW)


def test_components_are_of_the_variables_of_X():
    model = make_pipeline(StandardScaler(), SVR(**POLY)).fit(X, Y)
    direct = KernelHDMR(model[-1]).fit(Z)
    hdmr = KernelHDMR(model).fit(X)
    assert_close(hdmr.evaluate(NEW), direct.evaluate(NEW_Z), 1e-9)
    assert_close(hdmr.component(1)(NEW[:, 1]), direct.component(1)(NEW_Z[:, 1]), 1e-9)
    points = X[model[-1].support_]
    for u in [(1,), (0, 1)]:
        found, desired = hdmr.kernel_component(u)(NEW, points), direct.kernel_component(u)(NEW_Z, Z[model[-1].support_])
        assert_close(found, desired, 1e-9)


def test_selected_columns():
    selected = ColumnTransformer([("some", StandardScaler(), [3, 0]), ("gone", "drop", [1])])
    for step in (selected, SelectKBest(f_regression, k=2), VarianceThreshold(2.0)):
        model = make_pipeline(step, MinMaxScaler(), SVR(kernel="poly", degree=2, coef0=1)).fit(X, Y)
        hdmr = check(model, X, NEW)
        assert len(hdmr.subspaces_) == 3 and hdmr.n_features_in_ == 4
        assert len(hdmr.sensitivity_.ST) == 4 and (hdmr.sensitivity_.ST == 0).sum() == 2


def test_a_column_that_comes_twice_is_one_variable():
    twice = ColumnTransformer([("one", StandardScaler(), [0, 1]), ("two", MinMaxScaler(), [1])])
    for kernel in (PolynomialKernel(2), FourierKernel(2, 0.3)):
        model = make_pipeline(twice, SVR(kernel=kernel)).fit(X, Y)
        assert check(model, X, NEW).subspaces_ == [(0,), (1,), (0, 1)]


def test_the_anova_kernel_behind_a_scaler():
    kernel = AnovaKernel(2).fit(Z[:, [2, 0]])
    steps = ColumnTransformer([("some", StandardScaler(), [2, 0])])
    hdmr = check(make_pipeline(steps, SVR(kernel=kernel)).fit(X, Y), X, NEW)
    assert hdmr.subspaces_ == [(0,), (2,), (0, 2)]


def test_columns_by_name():
    pandas = pytest.importorskip("pandas")
    frame, new = (pandas.DataFrame(rows, columns=list("abcd")) for rows in (X, NEW))
    steps = ColumnTransformer([("some", StandardScaler(), ["d", "a"])], remainder="passthrough")
    model = make_pipeline(steps, SVR(kernel="poly", degree=2, coef0=1)).fit(frame, Y)
    hdmr = check(model, frame, new)
    assert hdmr.component(["d", "b"]).subspace == (1, 3)


# --- invalid input ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SVR(), "kernel 'rbf' is not supported.*fasthdmr.HDMR"),
        (SVR(kernel="sigmoid"), "'sigmoid'"),
        (SVR(kernel=linear_kernel), "linear_kernel"),
        (KernelRidge(kernel="cosine"), "'cosine'"),
        (KernelRidge(kernel="poly", degree=2.5), "2.5"),
        (GaussianProcessRegressor(optimizer=None), "RBF|1\\*\\*2"),
        (GaussianProcessRegressor(DotProduct() + RBF(), optimizer=None), "RBF"),
        (GaussianProcessRegressor(DotProduct() ** 0.5, optimizer=None), "DotProduct"),
        (GaussianProcessRegressor(FourierKernel(1) ** 2, optimizer=None, alpha=1.0), "FourierKernel.*not supported"),
        (SVR(kernel=FourierKernel(1) * FourierKernel(2)), r"FourierKernel\(degree=1.* \* FourierKernel.*not supported"),
        (SVR(kernel=FourierKernel(1) + DotProduct()), "ConstantKernel as factor or summand"),
        (SVR(kernel=AnovaKernel(1).fit(X / 100) + FourierKernel(1)), "AnovaKernel.*not supported"),
        (make_pipeline(PCA(), SVR(kernel="poly")), "PCA.*shift, scale or select"),
        (make_pipeline(PolynomialFeatures(), SVR(kernel="poly")), "PolynomialFeatures"),
        (make_pipeline(MinMaxScaler(clip=True), SVR(kernel="poly")), "clipping"),
        (make_pipeline(FunctionTransformer(np.tanh), SVR(kernel="poly")), "FunctionTransformer"),
    ],
    ids=lambda value: str(value).split(" at 0x")[0],  # an address is another one in every process
)
def test_refusals(model, message):
    with pytest.raises(ValueError, match=message):
        KernelHDMR(model.fit(X / 100, Y)).fit(X / 100)


def test_precomputed_kernels_are_refused():
    with pytest.raises(ValueError, match="precomputed"):
        KernelHDMR(SVR(kernel="precomputed").fit(Z @ Z.T, Y)).fit(Z @ Z.T)


def test_several_classes_are_refused():
    with pytest.raises(ValueError, match="3 classes"):
        KernelHDMR(SVC(kernel="poly").fit(Z, np.digitize(Y, [-1, 1]))).fit(Z)


@pytest.mark.parametrize("model", [Ridge().fit(Z, Y), None, len, make_pipeline(StandardScaler(), Ridge()).fit(Z, Y)])
def test_other_models_are_refused(model):
    with pytest.raises(TypeError, match="KernelHDMR takes a fitted SVR"):
        KernelHDMR(model).fit(Z)


def test_other_rows_are_refused():
    with pytest.raises(ValueError, match="4 features"):
        KernelHDMR(SVR(**POLY).fit(Z, Y)).fit(Z[:, :3])
    with pytest.raises(NotFittedError):
        KernelHDMR(Pipeline([("svr", SVR(**POLY))])).fit(Z, Y).kernel_component(0)(Z, Z) + KernelHDMR(SVR()).transform(
            Z
        )
