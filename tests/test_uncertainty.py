"""Intervals of indices and standard errors of components, against derivatives by refits and known identities."""

import pickle

import numpy as np
import pytest
from scipy.special import stdtrit
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor
from tolerance import assert_close

from fasthdmr import HDMR, ConstantWarning, KernelHDMR, TreeHDMR, decompose
from fasthdmr._results.sensitivity import Sensitivity
from fasthdmr._spans import fit as span_fit
from fasthdmr._spans import joint_fit, of_trees
from fasthdmr._spans.fit import RIDGE
from fasthdmr._uncertainty import blocks, column_influence, span_influence
from fasthdmr._uncertainty import moves as span_moves
from fasthdmr._uncertainty.uncertainty import NORMAL_95, Uncertainty
from fasthdmr.analytic import Ishigami

# Low orders and dependent variables are chosen on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.ResidualWarning", "ignore::fasthdmr.ConcurvityWarning")

NAMES = ("Sa", "Sb", "S", "ST", "R")
DIFFERENCES = "the reference is a difference quotient"


def correlated(n_rows, n=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, n)) + 0.7 * rng.normal(size=(n_rows, 1))


def bits(n_rows, seed=0):
    """Dependent variables of two values, whose spans do not depend on the rows and hold every function."""
    return (correlated(n_rows, seed=seed) > 0.3).astype(float)


def of_bits(X):
    return X @ [1.0, 2.0, -1.0] + 3 * X[:, 0] * X[:, 1] - 2 * X[:, 1] * X[:, 2] + 2 * X[:, 0] * X[:, 1] * X[:, 2]


def of_pairs(function=None, order=2):
    """HDMR with all pairs and triples: the rule would leave some out for 8 distinct rows."""
    pairs = [(0, 1), (0, 2), (1, 2), (0, 1, 2)]
    return HDMR(function, order=order, interactions=[u for u in pairs if len(u) <= order])


def smooth_function(X):
    return X[:, 0] + X[:, 1] ** 2 + X[:, 0] * X[:, 1]


def flat(hdmr, values):
    """All indices, and f_0 at some values."""
    indices = hdmr.sensitivity_
    return np.concatenate([*(getattr(indices, name).ravel() for name in NAMES), hdmr.component(0)(values).ravel()])


def standard_errors(hdmr, values):
    """Their standard errors."""
    indices = hdmr.sensitivity_
    found = [getattr(indices, f"{name}_conf").ravel() / NORMAL_95 for name in NAMES]
    return np.concatenate([*found, hdmr.component(0).standard_error(values).ravel()])


def reference(fit, X, weights, values, *, step=1e-4):
    """The infinitesimal jackknife by its definition: refits with the weight of each row increased a little."""
    total = 0.0
    for k in range(len(X)):
        up, down = weights.copy(), weights.copy()
        up[k] *= 1 + step
        down[k] *= 1 - step
        total = total + ((flat(fit(X, up), values) - flat(fit(X, down), values)) / (2 * step)) ** 2
    return np.sqrt(total)


@pytest.fixture
def blocks_of_one_row(monkeypatch, intervals_without_bias):
    """Blocks of one row make the jackknife exact; the ridge is fixed, and there is no correction for leverage."""
    monkeypatch.setattr(span_influence, "MANY_BLOCKS", 1000)
    monkeypatch.setattr(column_influence, "MANY_BLOCKS", 1000)
    monkeypatch.setattr(span_moves, "_MAX_LEVERAGE", 0.0)
    monkeypatch.setattr(blocks, "stdtrit", lambda df, p: NORMAL_95)
    monkeypatch.setattr(joint_fit, "_LARGEST_FACTOR", RIDGE)
    for module in (span_fit, of_trees):
        monkeypatch.setattr(module, "effective_rows", lambda n_rows, weights: 300.0)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_equal_to_refits_for_any_order(order, n_outputs, blocks_of_one_row):
    def function(X):
        return of_bits(X) if n_outputs == 1 else np.column_stack([of_bits(X), X[:, 0] + X[:, 1] * X[:, 2]])

    def fit(X, weights):
        return of_pairs(function, order).fit(X, sample_weight=weights)

    X, weights = bits(120), np.random.default_rng(1).uniform(0.5, 2, 120)
    values = np.array([0.0, 1.0])
    expected = reference(fit, X, weights, values)
    assert_close(standard_errors(fit(X, weights), values), expected, 1e-4, reason=DIFFERENCES)


def test_equal_to_refits_of_data(blocks_of_one_row):
    """y itself is decomposed: the residual contributes to the uncertainty."""
    X, rng = bits(120), np.random.default_rng(2)
    y = of_bits(X) + 2 * rng.normal(size=len(X))
    values = np.array([0.0, 1.0])
    expected = reference(lambda X, w: of_pairs().fit(X, y, sample_weight=w), X, np.ones(len(X)), values)
    assert_close(standard_errors(of_pairs().fit(X, y), values), expected, 1e-4, reason=DIFFERENCES)


def of_bits_and_more(X):
    """A function of five variables, the last two of which are split in two."""
    return of_bits(X[:, :3]) + X[:, 3] * X[:, 0] - X[:, 4] * X[:, 1] * X[:, 2] * X[:, 3]


@pytest.mark.parametrize("smooth", [True, False])
@pytest.mark.parametrize(("depth", "order", "n_outputs"), [(2, 2, 1), (3, 2, 2), (5, 2, 1), (4, 3, 1)])
def test_equal_to_refits_of_trees(smooth, depth, order, n_outputs, blocks_of_one_row):
    """Terms of up to five variables; those above the order are projected on full or on coarse spans."""
    X = (correlated(100, n=5, seed=3) > 0.3).astype(float)
    y = np.column_stack([of_bits_and_more(X), X[:, 0] * X[:, 4] - X[:, 2]])[:, :n_outputs]
    model = DecisionTreeRegressor(max_depth=depth, random_state=0).fit(X, y)

    def fit(X, weights):
        return TreeHDMR(model, smooth=smooth, order=order).fit(X, sample_weight=weights)

    weights, values = np.random.default_rng(1).uniform(0.5, 2, len(X)), np.array([0.0, 1.0])
    expected = reference(fit, X, weights, values)
    assert_close(standard_errors(fit(X, weights), values), expected, 1e-4, reason=DIFFERENCES)


def test_standard_errors_account_for_degrees_of_freedom():
    """Noise, fitted with a third as many columns as rows: standard errors agree with deviations over samples."""

    def fit(seed):
        X = correlated(300, n=4, seed=seed)
        noise = np.random.default_rng(seed + 1000).normal(size=300)
        return HDMR(n_splines=(6, 4)).fit(X, 2 * X[:, 0] + noise).component(0)

    values = np.array([-1.0, 0.0, 1.0])
    found = [fit(seed) for seed in range(60)]
    sd = np.std([component(values) for component in found], axis=0, ddof=1)
    ratio = np.mean([component.standard_error(values) for component in found], axis=0) / sd
    assert 0.8 < ratio.mean() < 1.2


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("weights", [None, np.random.default_rng(7).uniform(0.5, 2, 120)])
def test_noise_is_divided_by_the_rows_that_are_left(order, weights, monkeypatch):
    """The standard deviation of a residual is smaller by the root of one minus the leverage: N - p of N in total."""
    X, w = bits(120), np.ones(120) if weights is None else weights
    n_effective = w.sum() ** 2 / (w**2).sum()
    sides = np.stack([1 - X, X], axis=2)
    spans = [sides[:, j] for j in range(3)]
    spans += [np.einsum("sa,sb->sab", sides[:, i], sides[:, j]).reshape(120, 4) for i, j in [(0, 1), (0, 2), (1, 2)]]
    design = np.hstack(spans[: 3 if order == 1 else 6])
    root = np.sqrt(w / w.sum())[:, None]
    centred = root * (design - root[:, 0] ** 2 @ design)
    ridge = np.concatenate([np.full(span.shape[1], RIDGE / n_effective / span.shape[1]) for span in spans])
    G = centred.T @ centred
    expected = root[:, 0] ** 2 + np.sum(centred.T * np.linalg.solve(G + np.diag(ridge[: len(G)]), centred.T), axis=0)
    noise = np.random.default_rng(8).normal(size=120) * root[:, 0]
    full = np.column_stack([root, centred])
    y = (noise - full @ np.linalg.lstsq(full, noise, rcond=None)[0]) / root[:, 0]  # orthogonal to all spans
    monkeypatch.setattr(joint_fit, "_LARGEST_FACTOR", RIDGE)  # it would be large, because y is noise
    values, seen, leverages = np.array([0.0, 1.0]), [], span_moves.leverages
    monkeypatch.setattr(
        span_moves, "leverages", lambda *given: seen.append(leverages(*given)) or 0 * seen[0] + np.mean(seen[0])
    )
    found = of_pairs(order=order).fit(X, y, sample_weight=weights).component(0).standard_error(values)
    assert_close(np.sort(seen[0][seen[0] > 0])[-100:], np.sort(expected)[-100:], 1e-9)
    monkeypatch.setattr(span_moves, "leverages", lambda *given: 0 * seen[0])
    uncorrected = of_pairs(order=order).fit(X, y, sample_weight=weights).component(0).standard_error(values)
    assert 1 + 2.9 * order < expected.sum() < 1 + 3 * order
    assert_close(uncorrected / found, np.full(2, np.sqrt(1 - np.mean(seen[0]))), 1e-9)


def test_equal_to_refits_of_a_kernel_machine(blocks_of_one_row):
    X = correlated(150)
    machine = KernelRidge(kernel="poly", degree=2, coef0=1, gamma=1).fit(X, smooth_function(X))

    def fit(X, weights):
        return KernelHDMR(machine).fit(X, sample_weight=weights)

    values = np.array([-1.0, 0.0, 2.0])
    expected = reference(fit, X, np.ones(len(X)), values)
    assert_close(standard_errors(fit(X, np.ones(len(X))), values), expected, 1e-4, reason=DIFFERENCES)


@pytest.mark.filterwarnings("ignore::fasthdmr.RankWarning")
@pytest.mark.parametrize("measure", [1.0, 0.5])
def test_equal_to_refits_where_columns_depend_on_each_other(measure, blocks_of_one_row):
    """The solution has minimum norm for scaled columns, so it depends on the scales."""
    X = correlated(120)
    X = np.column_stack([X, X[:, 0] - measure * X[:, 1], X[:, 2]])
    machine = KernelRidge(kernel="poly", degree=2, coef0=1, gamma=1).fit(X, smooth_function(X) + X[:, 3] * X[:, 4])

    def fit(X, weights):
        return KernelHDMR(machine).fit(X, sample_weight=weights)

    weights, values = np.random.default_rng(1).uniform(0.5, 2, 120), np.array([-1.0, 0.0, 2.0])
    assert fit(X, weights).rank_ < len(fit(X, weights).coef_) + 1
    expected = reference(fit, X, weights, values)
    assert_close(standard_errors(fit(X, weights), values), expected, 1e-4, reason=DIFFERENCES)


@pytest.mark.parametrize("order", [1, 2, None])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_equal_to_refits_with_trees_as_spans(order, n_outputs, blocks_of_one_row):
    """Residual terms of deeper trees are projected on lower columns like components; outputs have separate columns."""
    X = correlated(100)
    Y = np.column_stack([smooth_function(X), X[:, 0] * X[:, 2] + X[:, 1]])[:, :n_outputs]
    models = [ExtraTreeRegressor(max_depth=d, random_state=s).fit(X, Y) for s, d in enumerate([1, 1, 2, 2, 3, 3])]
    models += [ExtraTreeRegressor(max_depth=2, random_state=0).fit(X * keep, Y) for keep in np.eye(3)]

    def fit(X, weights):
        return TreeHDMR(models, basis="trees", combine="sum", order=order).fit(X, sample_weight=weights)

    weights, values = np.random.default_rng(1).uniform(0.5, 2, 100), np.array([-1.0, 0.0, 2.0])
    expected = reference(fit, X, weights, values)
    assert expected.max() > 0.01
    assert_close(standard_errors(fit(X, weights), values), expected, 1e-4, reason=DIFFERENCES)


@pytest.mark.parametrize("smooth", [True, False])
def test_near_a_jackknife_of_blocks_in_splines(smooth):
    """Knots depend on the rows and pairs have fewer splines than in the fit; blocks have an error of 1/sqrt(100)."""
    X = correlated(1500)
    model = GradientBoostingRegressor(max_depth=2, random_state=0).fit(X, smooth_function(X))

    def fit(weights):
        return TreeHDMR(model, smooth=smooth).fit(X, sample_weight=weights)

    values, n_blocks = np.array([-1.0, 0.0, 1.0]), 50
    left_out = np.array([flat(fit((np.arange(len(X)) % n_blocks != b) * 1.0), values) for b in range(n_blocks)])
    jackknife = np.sqrt((n_blocks - 1) * left_out.var(axis=0))
    found = standard_errors(fit(np.ones(len(X))), values)
    large = jackknife > 0.1 * jackknife.max()
    assert large.sum() > 10
    ratio = found[large] / jackknife[large]
    assert ratio.min() > 0.6 and ratio.max() < 1.5 and 0.85 < np.median(ratio) < 1.15


def test_dominant_blocks_widen_intervals():
    """Satterthwaite: 2 B / (kurtosis - 1) degrees of freedom, but for a correction of order 1/B; at most B - 1."""
    rng, many = np.random.default_rng(0), blocks.Blocks(np.ones(1000), 50)
    even, one = np.resize([1.0, -1.0], 50), np.where(np.arange(50) == 7, 49.0, -1.0)
    heavy = rng.standard_t(2, size=50)
    moves = 1e-100 * np.stack([even, one, heavy, 0 * even], axis=1)  # independent of the scale
    kurtosis = np.mean(heavy**4) / np.mean(heavy**2) ** 2
    freedom = np.array([49.0, 100 / (50 - 2 + 1 / 49 - 47 / 49), 100 / (kurtosis - 47 / 49), 49.0])
    assert 3 < freedom[2] < 49
    expected = stdtrit(freedom, 0.975) * many.deviation(moves)
    assert_close(many.half_width(moves), expected, 1e-9)
    assert_close(blocks.Blocks(np.ones(1), 50).half_width(np.zeros((1, 2))), np.zeros(2))


def test_half_widths_shrink_with_the_root_of_repeated_rows(blocks_of_one_row):
    X = bits(300)
    once, twice = of_pairs(of_bits).fit(X), of_pairs(of_bits).fit(np.vstack([X, X]))
    for name in NAMES:
        assert_close(
            getattr(twice.sensitivity_, f"{name}_conf") * np.sqrt(2), getattr(once.sensitivity_, f"{name}_conf")
        )


def test_weights_are_not_repetitions_unless_they_are_whole(blocks_of_one_row):
    """Rows of weight 0 have no effect, equal weights equal none, and unequal ones reduce the effective sample size."""
    X, rng = bits(300), np.random.default_rng(0)
    plain = of_pairs(of_bits).fit(X).sensitivity_
    assert_close(of_pairs(of_bits).fit(X, sample_weight=np.full(300, 7.0)).sensitivity_.S_conf, plain.S_conf)
    padded = of_pairs(of_bits).fit(np.vstack([X, bits(100, seed=5)]), sample_weight=np.repeat([1.0, 0.0], [300, 100]))
    assert_close(padded.sensitivity_.S_conf, plain.S_conf)
    unequal = of_pairs(of_bits).fit(X, sample_weight=rng.exponential(size=300) ** 2)
    assert (unequal.sensitivity_.S_conf > plain.S_conf).all()


def test_sums_of_indices_that_are_one_have_no_error(blocks_of_one_row):
    """S of all components and the residual: a variable alone has no error, two have the same."""
    X = bits(300)
    alone = HDMR(lambda X: 2 * X[:, 0]).fit(X[:, :1]).sensitivity_
    assert max(alone.Sa_conf[0], alone.S_conf[0], alone.R_conf[0]) < 1e-3  # the effect of the ridge
    two = HDMR(lambda X: X @ [1.0, 2.0], order=1).fit(X[:, :2]).sensitivity_
    assert two.S_conf.min() > 0.01
    assert_close(two.S_conf[0], two.S_conf[1], 1e-2, reason="what the ridge leaves in the residual moves, too")
    assert_close(two.R_conf, two.S_conf, 1e-2, reason="the same")


def test_the_divisor_may_be_known(blocks_of_one_row):
    X = bits(300)[:, :1]
    indices = HDMR(lambda X: 2 * X[:, 0], normalise="data").fit(X, 2 * X[:, 0]).sensitivity_
    p = X.mean()
    expected = [NORMAL_95 * abs(1 - 2 * p) / np.sqrt(300 * p * (1 - p))]
    assert_close(indices.S_conf, expected, 1e-4, reason="the ridge")


def test_several_outputs_are_the_outputs_side_by_side():
    X = bits(200)
    both = of_pairs(lambda X: np.column_stack([of_bits(X), X[:, 2] - X[:, 0] * X[:, 1]])).fit(X)
    for k, function in enumerate([of_bits, lambda X: X[:, 2] - X[:, 0] * X[:, 1]]):
        one = of_pairs(function).fit(X)
        for name in NAMES:
            assert_close(
                getattr(both.sensitivity_, f"{name}_conf")[:, k], getattr(one.sensitivity_, f"{name}_conf"), 1e-9
            )
        assert_close(both.component(0).standard_error([0, 1])[:, k], one.component(0).standard_error([0, 1]), 1e-9)


@pytest.mark.parametrize("options", [{}, {"smooth": False}, {"basis": "bins"}, {"basis": "trees", "order": None}, None])
def test_intervals_do_not_depend_on_threads(options):
    X = correlated(3000, n=6)
    y = smooth_function(X) + X[:, 2] * X[:, 3] * X[:, 4]
    model = GradientBoostingRegressor(n_estimators=10, max_depth=5, random_state=0).fit(X, y)  # some coarse spans
    found = []
    for n_jobs in (1, 3):
        hdmr = HDMR(n_jobs=n_jobs).fit(X, y) if options is None else TreeHDMR(model, n_jobs=n_jobs, **options).fit(X)
        found.append(np.concatenate([getattr(hdmr.sensitivity_, f"{name}_conf") for name in NAMES]))
    np.testing.assert_array_equal(*found)
    assert (found[0] > 0).any()


def test_missing_values_are_values_like_others():
    X = correlated(800)
    X[::5, 0] = np.nan
    model = DecisionTreeRegressor(max_depth=4).fit(X, np.nan_to_num(X[:, 0], nan=3.0) + X[:, 1])
    hdmr = TreeHDMR(model).fit(X)
    assert np.isfinite(hdmr.sensitivity_.Sa_conf).all() and hdmr.sensitivity_.Sa_conf[0] > 0
    errors = hdmr.component(0).standard_error([np.nan, 0.0])
    assert np.isfinite(errors).all() and (errors > 0).all()


@pytest.mark.filterwarnings("ignore:The output of the black box is constant")
def test_indices_of_a_constant_have_no_error():
    indices = HDMR(lambda X: np.full(len(X), 3.0)).fit(correlated(100)).sensitivity_
    for name in NAMES:
        assert not getattr(indices, f"{name}_conf").any()
    X = correlated(100)
    stump = GradientBoostingRegressor(n_estimators=2).fit(X, np.ones(100))
    assert TreeHDMR(stump).fit(X).sensitivity_.Sa_conf.shape == (0,)


@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")
def test_few_rows_and_collinear_variables():
    X = correlated(12, n=2)
    hdmr = of_pairs(smooth_function).fit(np.column_stack([X, X[:, 0]]))
    assert np.isfinite(hdmr.sensitivity_.S_conf).all()
    assert np.isfinite(hdmr.component(0).standard_error([0.0])).all()


def test_a_variable_that_hardly_varies():
    """It may be constant in the subsample, which changes nothing else."""
    X = correlated(10_001, n=2)
    X[:, 1] = 0
    X[1, 1] = 1
    hdmr = HDMR(lambda X: X[:, 0] + X[:, 1]).fit(X)
    assert hdmr.decomposition_.sample.rows[:, 1].max() == 0
    assert np.isfinite(hdmr.sensitivity_.Sa_conf).all()


def test_computed_at_first_access_and_pickled(monkeypatch):
    calls = []
    work = Uncertainty._influence
    monkeypatch.setattr(Uncertainty, "_influence", lambda self: calls.append(1) or work(self))
    X = correlated(200)
    model = GradientBoostingRegressor(n_estimators=50, max_depth=1).fit(X, smooth_function(X))
    hdmr = TreeHDMR(model).fit(X)
    hdmr.sensitivity_.level_set("P"), hdmr.sensitivity_.order_for(0.9)
    before = pickle.loads(pickle.dumps(hdmr))
    assert not calls
    S_conf, _ = hdmr.sensitivity_.S_conf, hdmr.sensitivity_.R_conf
    assert len(calls) == 1
    errors, _ = (hdmr.component(j).standard_error([0.0, 1.0]) for j in (0, 1))
    assert len(calls) == 2
    after = pickle.loads(pickle.dumps(hdmr))
    assert_close(after.sensitivity_.S_conf, S_conf)
    assert_close(after.component(0).standard_error([0.0, 1.0]), errors)
    assert len(calls) == 2
    assert_close(before.sensitivity_.S_conf, S_conf)
    assert len(pickle.dumps(after)) < 1.2 * len(pickle.dumps(before))


def test_a_function_is_not_called_again():
    calls = []
    hdmr = HDMR(lambda X: calls.append(len(X)) or smooth_function(X)).fit(correlated(200))
    before = len(calls)
    assert hdmr.sensitivity_.S_conf.max() > 0 and hdmr.component(0).standard_error([0.0])[0] > 0
    assert len(calls) == before


def test_frame_and_printed_table():
    indices = of_pairs(of_bits).fit(bits(200)).sensitivity_
    frame = indices.to_frame()
    columns = ["subspace", "names", "order", *NAMES, *(f"{name}_conf" for name in NAMES)]
    assert list(frame.columns) == columns
    assert_close(frame["Sb_conf"], indices.Sb_conf)
    assert_close(frame["R_conf"][:3], indices.R_conf)
    assert frame["ST_conf"][3:].isna().all()
    assert f"{indices.Sa[0]:.4f} ±{indices.Sa_conf[0]:.4f}" in str(indices)
    assert indices.Sa.min() < 0.02 and "Indices below 0.02 are biased upwards" in str(indices)
    large = of_pairs(lambda X: X @ [1.0, 2.0, -1.0], order=1).fit(bits(200)).sensitivity_
    assert large.Sa.min() > 0.02 and "Chance" not in str(large)
    two = of_pairs(lambda X: np.column_stack([of_bits(X), X[:, 0]])).fit(bits(200)).sensitivity_
    assert_close(two.to_frame()["ST_conf"][:3], two.ST_conf[:, 0])
    assert f"±{two.S_conf[0, 1]:.4f}" in str(two)


def without_a_sample(kind):
    X = correlated(200, n=2)
    if kind == "closed form":
        return Ishigami().sensitivity(), Ishigami().component((0,))
    if kind == "columns":
        columns = decompose(X, [0, 1], coef=[1.0, 2.0])
        return columns.sensitivity, columns.component((0,))
    if kind == "product":
        model = GradientBoostingRegressor(n_estimators=5).fit(X, X[:, 0])
        hdmr = TreeHDMR(model, measure="product").fit(X)
    else:
        machine = KernelRidge(kernel="poly", degree=2).fit(X, X[:, 0])
        hdmr = KernelHDMR(machine, measure=(np.zeros(2), np.eye(2))).fit(X)
    return hdmr.sensitivity_, hdmr.component(0)


@pytest.mark.parametrize("kind", ["closed form", "product", "law", "columns"])
def test_without_a_sample_there_is_none(kind):
    indices, component = without_a_sample(kind)
    assert all(getattr(indices, f"{name}_conf") is None for name in NAMES)
    assert "±" not in str(indices) and "Sa_conf" not in indices.to_frame()
    with pytest.raises(ValueError, match="measure='empirical'"):
        component.standard_error([0.0])


def test_refusals_name_the_remedy():
    assert Sensitivity([(0,)], [1.0], [1.0], 0.0, 1.0, ["a"]).Sa_conf is None
    hdmr = of_pairs(of_bits).fit(bits(200))
    with pytest.raises(ValueError, match=r"of one variable, got x0 & x1.*Sa_conf"):
        hdmr.component((0, 1)).standard_error([[0.0, 1.0]])
    with pytest.raises(ValueError, match=r"takes an array of shape \(N, 1\), got \(1, 2\)"):
        hdmr.component(0).standard_error([[0.0, 1.0]])


def test_rows_without_weight_change_no_interval():
    X = correlated(300)
    y = smooth_function(X) + np.random.default_rng(1).normal(size=300)
    weights = np.random.default_rng(2).integers(0, 3, size=300)
    there = weights > 0
    all_rows, some = HDMR(order=1).fit(X, y, weights), HDMR(order=1).fit(X[there], y[there], weights[there])
    assert_close(all_rows.sensitivity_.S_conf, some.sensitivity_.S_conf, 1e-9)
    errors = [hdmr.component(0).standard_error([-1.0, 0.0, 1.0]) for hdmr in (all_rows, some)]
    assert_close(*errors, 1e-9)


def test_constant_outputs_have_standard_errors_of_0():
    X = np.random.default_rng(0).normal(size=(300, 2))
    points = np.linspace(-1, 1, 5)
    with pytest.warns(ConstantWarning):
        both = HDMR(order=1).fit(X, np.column_stack([np.ones(300), X[:, 0] ** 2]))
    with pytest.warns(ConstantWarning):
        constant = HDMR(order=1).fit(X, np.ones(300))
    errors = both.component(0).standard_error(points)
    assert (errors[:, 0] < 1e-12).all() and (errors[:, 1] > 1e-3).all()
    assert (constant.component(0).standard_error(points) == np.zeros(5)).all()


def test_columns_beside_groups_have_standard_errors_with_kernels():
    X = np.random.default_rng(0).normal(size=(300, 3))
    machine = KernelRidge(kernel="poly", degree=2).fit(X, X[:, 0] + X[:, 1] * X[:, 2])
    hdmr = KernelHDMR(machine, feature_groups={"pair": [1, 2]}).fit(X)
    assert (hdmr.component("x0").standard_error([0.5]) > 0).all()
