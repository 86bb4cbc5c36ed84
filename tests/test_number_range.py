"""Outputs far from zero, very large or very small ones, constants, weights and variables at the ends of the range."""

import copy
import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVR
from tolerance import assert_close

import fasthdmr
from fasthdmr import HDMR, KernelHDMR, TreeHDMR, decompose, load_forest, salib
from fasthdmr._support.scale import LARGEST, Deviations, power_of_two
from fasthdmr.inspection import dgsm, pd_sensitivity, tree_importance
from fasthdmr.kernels import AnovaKernel
from fasthdmr.loaders.trees import Trees

# Trees have steps, and more variables than components, so residuals are large.
pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.ResidualWarning")

N = 400
rng = np.random.default_rng(0)
Z = rng.normal(size=(N, 3))
X = np.column_stack([Z[:, 0], 0.5 * Z[:, 0] + 0.8 * Z[:, 1], Z[:, 2]])
WEIGHTS = rng.random(N)


def function(rows):
    return rows[:, 0] + np.sin(rows[:, 1]) + rows[:, 0] * rows[:, 2]


Y = function(X) + 0.1 * rng.normal(size=N)
FOREST = load_forest(RandomForestRegressor(15, max_depth=4, random_state=0).fit(X, Y))
SHALLOW = load_forest(RandomForestRegressor(30, max_depth=2, random_state=0).fit(X, Y))
BOOSTED = load_forest(GradientBoostingRegressor(n_estimators=30, random_state=0).fit(X, Y))
MACHINE = SVR(kernel="poly", degree=2, coef0=1).fit(X, Y)
COLUMNS = np.column_stack([X, X[:, 0] * X[:, 2], X**2])
LABELS = [0, 1, 2, (0, 2), 0, 1, 2]
COEF = np.array([1.0, 0.5, 0.2, 1.0, 0.3, 0.1, 0.0])


def moved(forest, shift, scale):
    """The forest whose output is multiplied and shifted: by its leaves, as forests are, not by a constant."""
    trees = Trees.of(forest)
    return replace(trees, value=trees.value * scale + shift / forest.n_trees, offset=trees.offset * scale).forest()


def machine(shift, scale):
    result = copy.deepcopy(MACHINE)
    result.dual_coef_, result._dual_coef_ = result.dual_coef_ * scale, result._dual_coef_ * scale
    result.intercept_, result._intercept_ = result.intercept_ * scale + shift, result._intercept_ * scale + shift
    return result


def trees(shift, scale, forest=FOREST, sample_weight=None, **parameters):
    return TreeHDMR(moved(forest, shift, scale), **parameters).fit(X, sample_weight=sample_weight)


def ridge(shift, scale, **parameters):
    # The penalty has a unit, since it adds to sums of squares. With penalty 0, results do not depend on units.
    collection = [moved(SHALLOW, shift, scale), moved(BOOSTED, 0.0, scale)]
    return TreeHDMR(collection, combine="ridge", alphas=[0.0], **parameters).fit(X, shift + scale * Y)


ALL = {
    "HDMR, data": lambda a, s: HDMR().fit(X, s * Y + a),
    "HDMR, data, weights": lambda a, s: HDMR().fit(X, s * Y + a, sample_weight=WEIGHTS),
    "HDMR, data, bins": lambda a, s: HDMR(basis="bins").fit(X, s * Y + a),
    "HDMR, function": lambda a, s: HDMR(lambda rows: s * function(rows) + a).fit(X),
    "HDMR, against data": lambda a, s: HDMR(lambda Z: s * function(Z) + a, normalise="data").fit(X, s * Y + a),
    "HDMR, two outputs": lambda a, s: HDMR().fit(X, np.column_stack([Y, s * Y + a])),
    "trees, spline": trees,
    "trees, spline, weights": lambda a, s: trees(a, s, sample_weight=WEIGHTS),
    "trees, bins": lambda a, s: trees(a, s, basis="bins"),
    "trees, faithful": lambda a, s: trees(a, s, smooth=False),
    "trees, trees": lambda a, s: trees(a, s, SHALLOW, basis="trees"),
    "trees, product": lambda a, s: trees(a, s, measure="product"),
    "ridge, spline": ridge,
    "ridge, trees": lambda a, s: ridge(a, s, basis="trees"),
    "ridge, product": lambda a, s: ridge(a, s, measure="product"),
    "ridge, against data": lambda a, s: ridge(a, s, normalise="data"),
    "kernel": lambda a, s: KernelHDMR(machine(a, s)).fit(X),
    "decompose, coef": lambda a, s: decompose(
        np.column_stack([COLUMNS, np.ones(N)]), [*LABELS, ()], coef=[*s * COEF, a]
    ),
    "decompose, y": lambda a, s: decompose(COLUMNS, LABELS, y=s * Y + a, sample_weight=WEIGHTS),
    "decompose, columns": lambda a, s: decompose(s * COLUMNS + a, LABELS, coef=COEF),
}
DEVIATION = float(Y.std())
REASON = "the output itself is rounded to so much of its deviation"


def indices(found):
    """The quantities that are compared: indices, the residual, and their intervals."""
    sensitivity = found.sensitivity_ if hasattr(found, "sensitivity_") else found.sensitivity
    values = [sensitivity.Sa, sensitivity.S, sensitivity.ST, np.atleast_1d(sensitivity.residual)]
    if sensitivity.Sa_conf is not None:
        values += [sensitivity.Sa_conf, sensitivity.S_conf, sensitivity.ST_conf]
    return np.concatenate([np.ravel(v) for v in values])


@pytest.fixture(scope="module")
def ordinary():
    """The indices of outputs near zero, each worked out once."""
    known = {}

    def of(name):
        if name not in known:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                known[name] = indices(ALL[name](0.0, 1.0))
        return known[name]

    return of


@pytest.mark.filterwarnings("ignore:The .* numerical rank")
@pytest.mark.filterwarnings("ignore:.* pairs of variables are left out")
@pytest.mark.filterwarnings("ignore:The terms of the components")  # true at 1e9: values are rounded to 1e-7 deviations
class TestOutputs:
    @pytest.mark.parametrize(("means", "rtol"), [(1e3, 1e-10), (1e6, 1e-8), (1e9, 1e-4)])
    @pytest.mark.parametrize("name", ALL)
    def test_far_from_zero(self, ordinary, name, means, rtol):
        assert_close(indices(ALL[name](means * DEVIATION, 1.0)), ordinary(name), rtol, reason=REASON)

    @pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e-40, 1e40, 1e160, 1e290])
    @pytest.mark.parametrize("name", ALL)
    def test_very_large_and_small(self, ordinary, name, scale):
        assert_close(indices(ALL[name](0.0, scale)), ordinary(name), 1e-9)

    @pytest.mark.parametrize("name", ["HDMR, data", "trees, spline", "trees, trees", "trees, product", "decompose, y"])
    def test_both(self, ordinary, name):
        assert_close(indices(ALL[name](1e163, 1e160)), ordinary(name), 1e-9)
        assert_close(indices(ALL[name](1e-157, 1e-160)), ordinary(name), 1e-9)


@pytest.mark.parametrize(("shift", "scale"), [(1e9, 1.0), (0.0, 1e160), (3e163, 1e160), (0.0, 1e-160)])
@pytest.mark.parametrize(
    "fit",
    [
        lambda a, s: HDMR().fit(X, s * Y + a),
        trees,
        lambda a, s: trees(a, s, smooth=False),
        lambda a, s: trees(a, s, SHALLOW, basis="trees"),
        lambda a, s: trees(a, s, measure="product"),
        lambda a, s: ridge(a, s, basis="trees"),
        ridge,
        lambda a, s: KernelHDMR(machine(a, s)).fit(X),
    ],
)
@pytest.mark.filterwarnings("ignore:The .* numerical rank")
@pytest.mark.filterwarnings("ignore:The terms of the components")  # as above
def test_functions_are_in_the_units_of_the_output(fit, shift, scale):
    one, other = fit(0.0, 1.0), fit(shift, scale)
    tolerance = 1e-12 * (abs(shift) + scale)
    assert np.abs(other.predict(X) - (scale * one.predict(X) + shift)).max() <= tolerance
    assert np.abs(other.evaluate(X) - scale * one.evaluate(X)).max() <= tolerance
    assert abs(other.intercept_ - (scale * one.intercept_ + shift)) <= tolerance
    if not isinstance(other, HDMR):
        assert np.abs(other.residual(X) - scale * one.residual(X)).max() <= tolerance


def test_standard_errors_and_variances_are_in_the_units_of_the_output():
    points = np.array([-1.0, 0.0, 2.0])
    for fit in (lambda s: HDMR().fit(X, s * Y), lambda s: trees(0.0, s, SHALLOW, basis="trees")):
        one, large, huge = (fit(scale) for scale in (1.0, 1e100, 1e160))
        errors = [found.component(0).standard_error(points) for found in (one, large, huge)]
        assert_close([errors[1] / 1e100, errors[2] / 1e160], [errors[0]] * 2, 1e-9)
        assert_close(large.component(0).variance / 1e200, one.component(0).variance, 1e-9)
        assert_close(large.sensitivity_.variance / 1e200, one.sensitivity_.variance)
        assert huge.sensitivity_.variance == np.inf


@pytest.mark.parametrize("scale", [1e-160, 1e160])
def test_the_paper_s_form_is_in_the_units_of_columns_and_output(scale):
    one = decompose(COLUMNS, LABELS, coef=COEF)
    scales = np.array([1.0, scale, *np.ones(5)])
    coef = np.column_stack([scale * COEF / scales, COEF / scales])
    other = decompose(COLUMNS * scales, LABELS, coef=coef)
    by_column = np.concatenate([[1.0], scales[other.column_order]])
    assert_close(other.A * by_column[:, None] / by_column, one.A)
    assert_close(other.nu[:, 0] / scale * by_column, one.nu)
    assert_close(other.sensitivity.S, np.column_stack([one.sensitivity.S] * 2), 1e-12)
    assert_close(other.coef[1], coef[other.column_order, 1])


@pytest.mark.parametrize(("shift", "scale", "rtol"), [(1e6, 1.0, 1e-8), (0.0, 1e160, 1e-9), (0.0, 1e-160, 1e-9)])
def test_salib_analyze(shift, scale, rtol):
    one = salib.analyze({"names": ["a", "b", "c"]}, X, Y, K=2)
    other = salib.analyze({"names": ["a", "b", "c"]}, X, scale * Y + shift, K=2)
    for name in ("Sa", "S", "S_conf", "select", "Sa_sum"):
        assert_close(other[name], one[name], rtol, reason=REASON)
    assert_close(other["Em"]["RMSE"] / scale, one["Em"]["RMSE"], rtol, reason=REASON)


@pytest.mark.parametrize(("shift", "scale", "rtol"), [(1e6, 1.0, 1e-8), (0.0, 1e160, 1e-9), (0.0, 1e-160, 1e-9)])
def test_other_diagnostics(shift, scale, rtol):
    def model(rows):
        return scale * function(rows) + shift

    for centred in (True, False):
        one = pd_sensitivity(function, X, grid_resolution=10, centred=centred)
        other = pd_sensitivity(model, X, grid_resolution=10, centred=centred)
        assert_close(np.array([other.Sa, other.S]), np.array([one.Sa, one.S]), rtol, reason=REASON)
    differences = "differences over steps of 6e-6 lose so many digits of an output"
    assert_close(dgsm(model, X).S, dgsm(function, X).S, 1e-6, reason=differences)
    assert_close(tree_importance(moved(FOREST, shift, scale)), tree_importance(FOREST), rtol, reason=REASON)


@pytest.mark.parametrize(("shift", "scale"), [(1e6, 1.0), (0.0, 1e160), (0.0, 1e-160)])
def test_scores(shift, scale):
    both = np.array([0.0, shift])
    one, other = HDMR().fit(X, Y), HDMR().fit(X, np.column_stack([Y, scale * Y]) + both)
    model, far = HDMR(function).fit(X), HDMR(lambda rows: scale * function(rows) + shift).fit(X)
    for weights in (None, WEIGHTS):
        score = other.score(X, np.column_stack([Y, scale * Y]) + both, sample_weight=weights)
        assert_close(score, one.score(X, Y, sample_weight=weights), 1e-9)
        assert_close(far.fidelity(X, sample_weight=weights), model.fidelity(X, sample_weight=weights), 1e-9)


@pytest.mark.filterwarnings("ignore:The output of the black box is constant")
@pytest.mark.parametrize("value", [0.0, 0.1, 3.3e-7, 1e9])
def test_a_constant_predicted_up_to_rounding_has_r_squared_one(value):
    hdmr = HDMR(lambda rows: value * (np.sin(rows[:, 0]) ** 2 + np.cos(rows[:, 0]) ** 2)).fit(X)
    assert hdmr.fidelity(X) == 1.0
    assert hdmr.score(X, np.full(N, value)) == 1.0 and hdmr.score(X, np.full(N, value + 1.0)) == 0.0


def constant_forest(value):
    shares = Trees.of(SHALLOW)
    rounding = 1 + np.finfo(float).eps * np.random.default_rng(0).integers(-1, 2, shares.value.shape)
    return replace(shares, value=np.full_like(shares.value, value / SHALLOW.n_trees) * rounding).forest()


CONSTANTS = {
    "data": lambda c: HDMR().fit(X, np.full(N, c)),
    "data, weights": lambda c: HDMR().fit(X, np.full(N, c), sample_weight=WEIGHTS),
    "function": lambda c: HDMR(lambda rows: c * (np.sin(rows[:, 0]) ** 2 + np.cos(rows[:, 0]) ** 2)).fit(X),
    "trees, spline": lambda c: TreeHDMR(constant_forest(c)).fit(X),
    "trees, bins": lambda c: TreeHDMR(constant_forest(c), basis="bins").fit(X),
    "trees, faithful": lambda c: TreeHDMR(constant_forest(c), smooth=False).fit(X),
    "trees, product": lambda c: TreeHDMR(constant_forest(c), measure="product").fit(X),
    "trees, trees": lambda c: TreeHDMR(constant_forest(c), basis="trees").fit(X),
    "ridge": lambda c: TreeHDMR([FOREST, BOOSTED], combine="ridge").fit(X, np.full(N, c)),
    "decompose, y": lambda c: decompose(COLUMNS, LABELS, y=np.full(N, c), sample_weight=WEIGHTS),
    "decompose, coef": lambda c: decompose(np.column_stack([X, np.full(N, c)]), [0, 1, 2, ()], coef=[0, 0, 0, 1]),
    "kernel": lambda c: KernelHDMR(machine(c, 0.0)).fit(X),
    "the same rows": lambda c: HDMR(lambda rows: c * rows[:, 0] * rows[:, 1]).fit(np.full((30, 3), 1.7)),
    "the same rows, trees": lambda c: TreeHDMR(moved(FOREST, c, c)).fit(np.full((30, 3), 0.3)),
}


@pytest.mark.filterwarnings("ignore:The .* feature columns, the constant included, have numerical rank")
@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_of_any_size(name):
    """All indices are 0, and there is one warning."""
    values = np.random.default_rng(1)
    for _ in range(200 if name == "data" else 12):
        value = values.normal() * 10 ** values.uniform(-40, 40)
        with pytest.warns(UserWarning, match=re.escape("is constant")) as record:
            found = CONSTANTS[name](value)
        assert len([w for w in record if w.category is fasthdmr.ConstantWarning]) == 1
        sensitivity = found.sensitivity_ if hasattr(found, "sensitivity_") else found.sensitivity
        assert not sensitivity.S.any() and not sensitivity.Sa.any() and sensitivity.residual == 0
        assert sensitivity.S_conf is None or not sensitivity.S_conf.any()


def test_a_constant_output_of_several_leaves_the_others_alone():
    one = HDMR().fit(X, Y)
    for value in np.random.default_rng(2).normal(size=20) * 1e7:
        with pytest.warns(UserWarning, match=r"constant \(outputs y1\)"):
            both = HDMR().fit(X, np.column_stack([Y, np.full(N, value)]))
        assert np.array_equal(both.sensitivity_.S[:, 0], one.sensitivity_.S)
        assert not both.sensitivity_.S[:, 1].any() and both.residual_[1] == 0
        assert_close(both.predict(X)[:, 1], np.full(N, value))


def test_data_that_are_constant():
    with pytest.warns(UserWarning, match="y is constant"):
        hdmr = HDMR(function, normalise="data").fit(X, np.full(N, 0.1))
    assert not hdmr.sensitivity_.S.any() and not hdmr.sensitivity_.S_conf.any()


@pytest.mark.parametrize("share", [1e-12, 2e-9])
@pytest.mark.filterwarnings("ignore:The .* numerical rank")
def test_small_variation_is_not_constant(share):
    y = 1.0 + share * (Y - Y.min()) / np.ptp(Y) * 5
    for fit in (
        lambda: HDMR().fit(X, y),
        lambda: HDMR(lambda rows: 1.0 + share * function(rows)).fit(X),
        lambda: trees(1.0, share),
        lambda: trees(1.0, share, SHALLOW, basis="trees"),
        lambda: trees(1.0, share, measure="product"),
        lambda: KernelHDMR(machine(1.0, share)).fit(X),
    ):
        with warnings.catch_warnings():
            warnings.filterwarnings("error", "The output of the black box is constant")
            assert fit().sensitivity_.S.sum() > 0.5
    rare = np.ones(N)
    rare[7] += 2e-9
    assert HDMR().fit(X, rare).sensitivity_.variance > 0


WEIGHTED = {
    "HDMR": lambda w: HDMR().fit(X, Y, sample_weight=w),
    "trees, spline": lambda w: TreeHDMR(FOREST).fit(X, sample_weight=w),
    "trees, trees": lambda w: TreeHDMR(SHALLOW, basis="trees").fit(X, sample_weight=w),
    "trees, product": lambda w: TreeHDMR(FOREST, measure="product").fit(X, sample_weight=w),
    "ridge": lambda w: TreeHDMR([SHALLOW, BOOSTED], combine="ridge", alphas=[0.0]).fit(X, Y, sample_weight=w),
    "kernel": lambda w: KernelHDMR(MACHINE).fit(X, sample_weight=w),
    "decompose": lambda w: decompose(COLUMNS, LABELS, y=Y, sample_weight=w),
}


@pytest.mark.filterwarnings("ignore:The .* numerical rank")
@pytest.mark.parametrize("exponent", [-1068, -530, 530, 1020])
@pytest.mark.parametrize("name", WEIGHTED)
def test_only_ratios_of_weights_matter(name, exponent):
    """Also of weights that are subnormal numbers: they are quarters here, so that scaling them is exact.

    Whole numbers would count repetitions.
    """
    quarters = np.random.default_rng(3).integers(1, 9, N) / 4
    found = indices(WEIGHTED[name](np.ldexp(quarters, exponent)))
    assert_close(found, indices(WEIGHTED[name](quarters)), 1e-9)


def test_all_but_some_weight_at_one_row_and_outliers_without_weight():
    weights = np.where(np.arange(N) == 3, 1.0, 1e-6)
    one, far = (trees(shift, 1.0, sample_weight=weights) for shift in (0.0, 1e6))
    assert_close(indices(far), indices(one), 1e-6, reason="one row has most of the weight")
    y, weights = Y.copy(), WEIGHTS.copy()
    y[:5], weights[:5] = 1e200, 0.0
    found, desired = (HDMR().fit(X, values, sample_weight=weights).sensitivity_.S for values in (y, Y))
    assert_close(found, desired, 1e-9)


@pytest.mark.parametrize("scale", [1e-310, 1e-307, 1e-160, 1e160, 1e300])
@pytest.mark.parametrize("basis", ["spline", "bins"])
def test_variables_of_any_size(basis, scale):
    one, other = (HDMR(basis=basis).fit(X * s, Y) for s in (1.0, scale))
    reason = "subnormal numbers of 1e-310 have 10 digits"
    assert_close(indices(other), indices(one), 1e-6 if scale == 1e-310 else 1e-9, reason=reason)
    assert_close(other.predict(X * scale), one.predict(X), 1e-6 if scale == 1e-310 else 1e-9, reason=reason)


@pytest.mark.parametrize("scale", [1e-310, 1e-160, 1e160])
def test_kernels_that_centre_and_scale_their_variables(scale):
    rows = X * scale
    kernel = AnovaKernel(2).fit(rows)
    assert_close(kernel(rows), AnovaKernel(2).fit(X)(X), 1e-6, reason="subnormal numbers of 1e-310 have 10 digits")


def test_knots_of_normal_and_subnormal_numbers():
    rows = np.where(X > 0, X, 1e-310 * X)
    hdmr = HDMR().fit(rows, Y)
    assert np.isfinite(indices(hdmr)).all() and np.isfinite(hdmr.predict(rows)).all()


@pytest.mark.parametrize("scale", [1e-307, 1e290])
def test_steps_of_differences_follow_the_variables(scale):
    found = dgsm(lambda rows: function(rows / scale), X * scale)
    assert_close(found.S, dgsm(function, X).S, 1e-6, reason="differences")


ERRORS = {
    "y has values up to 2e\\+303 in column 1": lambda: HDMR().fit(X, np.column_stack([Y, np.full(N, 2e303)])),
    "y has values up to 1e\\+308, whose sums overflow": lambda: HDMR().fit(X, 1e308 * np.sign(Y)),
    "The model's output has values up to 1e\\+308": lambda: HDMR(lambda rows: 1e308 * np.sign(rows[:, 0])).fit(X),
    "X has values from .* to .* in column 1, and the difference": lambda: HDMR().fit(X * [1, 4e307, 1], Y),
    "The leaves of output 'y0' add up to as much as": lambda: trees(0.0, 1e308),
    "The leaves of output 'y0' add": lambda: trees(0.0, 1e308, basis="trees"),
    "of output 'y0' add up": lambda: trees(0.0, 1e308, measure="product"),
    "Leaf values must be finite, got nan in tree 0": lambda: trees(0.0, np.nan),
    "columns has values up to .* in column 2": lambda: decompose(COLUMNS * [1, 1, 1e303, 1, 1, 1, 1], LABELS, y=Y),
    "The sum of coef times columns may reach .* in output 0": lambda: decompose(
        COLUMNS * 1e200, LABELS, coef=1e200 * COEF
    ),
    "The coefficient of column 1 overflows": lambda: decompose(COLUMNS * [1, 1e-310, 1, 1, 1, 1, 1], LABELS, y=Y),
    "The machine is a sum of terms as large as": lambda: KernelHDMR(machine(0.0, 1e306)).fit(X),
    "The kernel's coefficient 1e-200 to the power of 2": lambda: KernelHDMR(
        KernelRidge(kernel="poly", degree=2, coef0=1, gamma=1e-200).fit(1e100 * X, Y)
    ).fit(1e100 * X),
    "The derivative by the variables \\(0,\\) overflows": lambda: dgsm(lambda rows: rows[:, 0] / 1e-310, X * 1e-310),
    "differ so much": lambda: HDMR(lambda rows: 1e200 * rows[:, 0], normalise="data").fit(X, 1e-200 * Y),
}


@pytest.mark.parametrize("message", ERRORS)
def test_errors_name_the_column_and_the_reason(message):
    with np.errstate(over="ignore"), pytest.raises(ValueError, match=message):
        ERRORS[message]()


def test_scales_are_exact_powers_of_two():
    for magnitude in (5e-324, 1e-310, 1e-160, 1e-30, 1.0, 1e30, 1e160, LARGEST):
        scale = power_of_two(magnitude)
        assert np.frexp(scale)[0] == 0.5 and 1 / (1 / scale) == scale
        assert 1e-37 < magnitude / scale < 1e37 or magnitude < 1e-300
    y = Y + 1e9
    far = Deviations.of(y[:, None], WEIGHTS)
    mean = np.average(y, weights=WEIGHTS)
    assert_close(far.mean, [mean])
    assert_close(far.variance, [np.average((y - mean) ** 2, weights=WEIGHTS)])
