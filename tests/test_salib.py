"""The stand-in for SALib.analyze.hdmr."""

import copy
import warnings

import numpy as np
import pytest
from scipy.linalg import LinAlgWarning
from tolerance import assert_close

from fasthdmr import salib as ours
from fasthdmr.datasets import make_ishigami

X, Y = make_ishigami(1000, random_state=0)
PROBLEM = {"num_vars": 3, "names": ["a", "b", "c"], "bounds": [[-np.pi, np.pi]] * 3}
SETTINGS = {"print_to_console": False, "seed": 1}
FRAME = ["Sa", "Sa_conf", "Sb", "Sb_conf", "S", "S_conf", "ST", "ST_conf"]


def problem(n_variables):
    return {"num_vars": n_variables, "names": [f"x{j}" for j in range(n_variables)]}


def quietly(*args, **settings):
    """Few rows cause warnings of left-out pairs and of collinear columns, which have separate tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinAlgWarning)
        warnings.filterwarnings("ignore", message=".*pairs of variables are left out")
        return ours.analyze(*args, **settings)


def both(**settings):
    """The one import is swapped for the other; nothing else changes."""
    theirs = pytest.importorskip("SALib.analyze.hdmr", reason="SALib is what we compare with")
    np.random.seed(0)  # noqa: NPY002  SALib draws its subsamples from here
    with pytest.warns(DeprecationWarning, match="enhanced_hdmr"):
        reference = theirs.analyze(PROBLEM, X, Y, **SETTINGS, **settings)
    return ours.analyze(PROBLEM, X, Y, **SETTINGS, **settings), reference


@pytest.mark.parametrize("maxorder", [1, 2, 3])
@pytest.mark.parametrize("K", [1, 4])
def test_swapping_the_import_changes_no_key_and_no_shape(maxorder, K):
    result, reference = both(maxorder=maxorder, K=K)
    assert set(result) == set(reference)
    assert isinstance(result, dict)
    for key in set(reference) - {"Em"}:
        assert np.shape(result[key]) == np.shape(reference[key]), key
    coefficients = {"B1", "B2", "B3", "C1", "C2", "C3"}
    assert set(reference["Em"]) - set(result["Em"]) <= coefficients
    for key in set(reference["Em"]) - coefficients - {"c2", "c3"}:
        assert np.shape(result["Em"][key]) == np.shape(reference["Em"][key]), key
    frame, expected = result.to_df(), reference.to_df()
    assert list(frame.columns) == list(expected.columns) == FRAME
    assert list(frame.index) == list(expected.index)
    assert frame.isna().equals(expected.isna())


@pytest.mark.parametrize(("K", "tolerance"), [(1, 0.02), (20, 0.05)])
def test_values_are_close(K, tolerance):
    """Both have 5 splines a variable. What 25 columns of a pair absorb by chance of 1000 rows (500 in a subsample)
    is up to 25/1000 (25/500) of the variance of Y, and differs: we solve jointly, SALib pair by pair.
    """
    result, reference = both(K=K)
    for name in ("Sa", "S", "ST"):
        shown = ~np.isnan(reference[name])
        assert np.abs(result[name] - reference[name])[shown].max() < tolerance, name
    for name in ("Sa_sum", "S_sum"):
        assert abs(result[name] - reference[name]) < 2 * tolerance
    assert_close(result["Em"]["f0"].mean(), reference["Em"]["f0"].mean(), 0.05, reason="other subsamples")
    chosen, expected = (r["Em"]["select"].mean(axis=1) > 0.5 for r in (result, reference))
    assert np.array_equal(chosen, expected)
    if K > 1:  # the deviation of 20 subsamples has an error of a sixth
        half, their_half = result["S_conf"][[0, 1, 4]], reference["S_conf"][[0, 1, 4]]
        assert_close(half, their_half, 0.5, reason="standard deviations of 20 random subsamples")


def test_indices_are_the_true_ones():
    result = ours.analyze(PROBLEM, *make_ishigami(10_000, random_state=0), m=8, K=2)
    assert np.abs(result["S"] - [0.3139, 0.4424, 0, 0, 0.2437, 0]).max() < 0.02  # 5,000 rows in a subsample
    assert np.abs(result["ST"][:3] - [0.5576, 0.4424, 0.2437]).max() < 0.03
    assert result["Em"]["select"][[0, 1, 4]].all()


def test_identities():
    result = ours.analyze(PROBLEM, X, Y, K=3, R=700, maxorder=3)
    assert_close(result["Sa"] + result["Sb"], result["S"])
    assert_close(result["ST"][0], result["S"][[0, 3, 4, 6]].sum())
    assert_close(result["S_sum"], result["S"].sum())
    assert result["Sa_sum_conf"] > 0
    last = result["idx"][:, -1]
    assert len(set(last)) == len(last) == 700
    assert_close(result["Em"]["f0"][-1] + result["Y_em"].sum(axis=1), result["Em"]["Y_e"][:, -1])
    assert_close(result["Em"]["RMSE"][-1], np.sqrt(np.mean((Y[last] - result["Em"]["Y_e"][:, -1]) ** 2)))
    assert_close(result["Y_em"].var(axis=0)[0], result.models[-1].component(0).variance, 1e-9)


def test_alpha_widens_the_intervals():
    narrow, wide = (ours.analyze(PROBLEM, X, Y, K=3, alpha=alpha) for alpha in (0.6826894921370859, 0.9544997361036416))
    for name in (*FRAME[1::2], "S_sum_conf"):
        finite = ~np.isnan(wide[name])
        assert_close(np.asarray(wide[name])[finite], 2 * np.asarray(narrow[name])[finite])


def test_one_subsample_is_all_rows():
    result = ours.analyze(PROBLEM, X, Y, K=1, R=400)
    assert np.array_equal(result["idx"][:, 0], np.arange(1000))
    assert not result["S_conf"].any()
    assert_close(result["S"], result.models[0].sensitivity_.S)


def test_emulate():
    result = ours.analyze(PROBLEM, X, Y, K=2, m=6)
    NEW, Y_new = make_ishigami(200, random_state=1)
    result.emulate(NEW)
    assert "Y_test" not in result
    result.emulate(NEW, Y_new)
    assert result["Y_test"] is Y_new
    assert 1 - np.var(result["emulated"] - Y_new) / np.var(Y_new) > 0.98


@pytest.mark.parametrize("n_rows", [1, 2, 8, 30, 50, 200])
@pytest.mark.parametrize("K", [1, 3])
def test_few_rows(n_rows, K):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The output of the black box is constant")
        result = quietly(PROBLEM, X[:n_rows], Y[:n_rows], K=K)
    assert np.isfinite(result["S"]).all()
    assert np.isfinite(result["Sa"]).all()
    if n_rows == 200:
        assert set(np.argsort(-result["S"])[:2]) == {0, 1}


def test_constant_columns_have_no_index():
    rows = np.column_stack([X[:, 0], np.full(1000, 3.0), X[:, 1:]])
    result = ours.analyze(problem(4), rows, Y, K=3)
    without = ours.analyze(problem(3), X, Y, K=3)
    constant = ["x1" in term.split("/") for term in result["Term"]]
    for name in ("Sa", "Sb", "S"):
        assert not result[name][constant].any()
        assert_close(result[name][~np.array(constant)], without[name], 1e-9)
    assert not np.delete(result["Em"]["select"], np.flatnonzero(~np.array(constant)), axis=0).any()


def test_a_constant_output_warns_once():
    with pytest.warns(UserWarning, match="constant") as caught:
        result = ours.analyze(PROBLEM, X, np.full(1000, 2.0), K=5)
    assert len(caught) == 1
    assert not result["S"].any()
    assert not result["select"].any()


@pytest.mark.parametrize("n_variables", [1, 2])
def test_order_above_the_number_of_variables(n_variables):
    result = ours.analyze(problem(n_variables), X[:, :n_variables], Y, maxorder=3, K=2)
    assert result["Term"] == ["x0", "x1", "x0/x1"][: 2**n_variables - 1]
    assert result["Em"]["maxorder"] == n_variables


def test_order_above_three():
    rows = np.random.default_rng(0).uniform(size=(3000, 4))
    result = ours.analyze(problem(4), rows, rows.prod(axis=1), maxorder=4, m=1, K=1)
    assert result["Term"][-1] == "x0/x1/x2/x3"
    assert len(result["S"]) == 15


def test_more_pairs_than_rows_allow():
    rows = np.random.default_rng(0).normal(size=(400, 24))
    target = rows[:, 3] * rows[:, 7] + rows[:, 0]
    result = ours.analyze(problem(24), rows, target, K=4)
    assert len(result["Term"]) == 24 * 25 // 2
    assert result["Term"][int(np.argmax(result["S"][24:])) + 24] == "x3/x7"


def test_equal_columns_share_equally():
    result = ours.analyze(PROBLEM, np.column_stack([X[:, 0], X[:, 0], X[:, 1]]), Y, K=5)
    assert_close(result["S"][0], result["S"][1], 1e-6, reason="normal equations of equal columns")


def test_arguments_are_not_changed():
    before, rows, values = copy.deepcopy(PROBLEM), X.copy(), Y.copy()
    result = ours.analyze(PROBLEM, X, Y, K=2)
    assert before == PROBLEM
    assert np.array_equal(rows, X)
    assert np.array_equal(values, Y)
    assert result.problem is PROBLEM
    assert result["X"] is X


def test_identical_calls_give_identical_results():
    first, second, other = (ours.analyze(PROBLEM, X, Y, K=3, seed=seed) for seed in (None, None, 5))
    for name in ("Sa", "S", "S_conf", "idx", "Y_em", "select"):
        assert np.array_equal(first[name], second[name])
    assert not np.array_equal(first["idx"], other["idx"])


def test_other_shapes_of_the_same_data():
    pandas = pytest.importorskip("pandas", reason="data frames are pandas'")
    expected = ours.analyze(PROBLEM, X, Y, K=2)["S"]
    result = ours.analyze(PROBLEM, pandas.DataFrame(X), Y[:, None], K=2)
    assert np.array_equal(result["S"], expected)


def test_the_table_is_printed(capsys):
    result = ours.analyze(PROBLEM, X, Y, K=2, print_to_console=True)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["Term", "Sa", "±", "Sb", "±", "S", "±", "ST", "±", "#select"]
    assert lines[2].split()[0] == "a"
    assert lines[2].split()[-1] == "2"
    assert lines[-1].split()[:2] == ["Sum", f"{result['Sa_sum']:.4f}"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"maxorder": 0}, "maxorder must be"),
        ({"m": 0}, "m must be"),
        ({"K": 1.5}, "K must be"),
        ({"K": True}, "K must be"),
        ({"K": 0}, "K must be"),
        ({"maxiter": 0}, "maxiter must be"),
        ({"lambdax": -0.1}, "lambdax must be"),
        ({"lambdax": np.nan}, "lambdax must be"),
        ({"seed": -1}, "non-negative"),
        ({"X": X[:0], "Y": Y[:0]}, "0 sample"),
        ({"X": np.where(X > 3, np.nan, X)}, "X contains NaN"),
        ({"problem": {**PROBLEM, "num_vars": 2}}, "num_vars'] is 2, but X has 3 columns"),
        (
            {"problem": {**PROBLEM, "groups": ["A", "B", "A"]}},
            r"not supported, got .*\['A', 'B', 'A'\].*'groups': None",
        ),
        ({"problem": {**PROBLEM, "groups": np.array(["A", "A", "A"])}}, "Groups of variables are not supported"),
        ({"R": 1001}, "R must be an integer from 1 to 1000"),
        ({"alpha": 1.0}, "alpha must be"),
        ({"Y": Y[:10]}, "inconsistent numbers of samples"),
        ({"Y": np.column_stack([Y, Y])}, "1d array"),
        ({"X": X[:, :2]}, "has 3 names, but X has 2 columns"),
    ],
)
def test_wrong_arguments_are_refused(settings, message):
    """With the exceptions of SALib and of this library."""
    for kind in (ValueError, RuntimeError, ours.InputError):
        with pytest.raises(kind, match=message):
            ours.analyze(**{"problem": PROBLEM, "X": X, "Y": Y, **settings})


@pytest.mark.parametrize(
    "settings",
    [{"maxorder": 0}, {"m": 0}, {"K": 0}, {"R": 1001}, {"alpha": 0.2}, {"lambdax": -1}, {"maxiter": 0}, {"Y": Y[:10]}],
    ids=str,
)
def test_salib_raises_the_same(settings):
    theirs = pytest.importorskip("SALib.analyze.hdmr", reason="SALib is what we compare with")
    with pytest.warns(DeprecationWarning, match="enhanced_hdmr"), pytest.raises(Exception) as raised:
        theirs.analyze(**{"problem": PROBLEM, "X": X, "Y": Y, **settings})
    with pytest.raises(raised.type):
        ours.analyze(**{"problem": PROBLEM, "X": X, "Y": Y, **settings})


@pytest.mark.parametrize("groups", [None, [], ["a", "b", "c"], ("a", "b", "c"), np.array(["a", "b", "c"])], ids=str)
def test_groups_of_single_variables_are_ignored(groups):
    found = ours.analyze({**PROBLEM, "groups": groups}, X, Y, K=1)
    assert np.array_equal(found["S"], ours.analyze(PROBLEM, X, Y, K=1)["S"])


def test_a_problem_of_salibs_class():
    """It has groups, of single variables, whether they are given or not."""
    salib = pytest.importorskip("SALib", reason="SALib is what we compare with")
    given = {"names": PROBLEM["names"], "bounds": PROBLEM["bounds"]}
    spec = salib.ProblemSpec(given).set_samples(X).set_results(Y)
    assert_close(spec.analyze(ours.analyze, K=1).analysis["S"], ours.analyze(PROBLEM, X, Y, K=1)["S"])
    grouped = salib.ProblemSpec({**given, "groups": ["A", "B", "A"]}).set_samples(X).set_results(Y)
    with pytest.raises(ours.InputError, match="Groups"):
        grouped.analyze(ours.analyze)
