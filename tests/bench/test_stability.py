"""The benchmark of stability in a tiny configuration, what it measures, and the components it holds to be true."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr
from tolerance import assert_close

from bench import copula, exact, halves
from bench.contenders import interpret_ebm, treehfd
from bench.problems import stability, stability_earlier, stability_truth
from bench.problems.stability_truth import DATA, MODEL
from bench.runner import measure, quietly

pytestmark = pytest.mark.usefixtures("cache")


# --- two halves ---------------------------------------------------------------------------------------------------


def test_halves_are_disjoint_and_are_everything():
    for one, other in halves.halves(7, 3):
        assert sorted([*one, *other]) == list(range(7)) and abs(len(one) - len(other)) == 1


def test_instability():
    f, g = np.random.default_rng(0).normal(size=(2, 50))
    assert halves.instability({(0,): f}, {(0,): f + 5.0}, f) == pytest.approx(0, abs=1e-15)
    assert_close(halves.instability({(0,): f}, {(1,): f}, f), 1.0)
    assert_close(halves.instability({(0,): f, (0, 1): g}, {(0,): f}, f), g.var() / (2 * f.var()))
    twice = np.column_stack([f, g])
    assert_close(halves.instability({(0,): twice}, {}, twice), 0.5)


def test_fidelity_is_of_unseen_rows_with_the_constant_of_those_seen():
    f = np.array([0.0, 2.0, 10.0, 14.0])
    seen, unseen = np.array([0, 1]), np.array([2, 3])
    assert_close(halves.fidelity({(0,): f - 99.0}, f, seen, unseen), 1.0)
    half = {(0,): np.array([0.0, 2.0, 8.0, 8.0])}  # the constant is 1, the mean of the component too: 8 for 10 and 14
    assert_close(halves.fidelity(half, f, seen, unseen), 1 - (4 + 36) / 8)


def test_shares_and_totals():
    x = np.random.default_rng(0).normal(size=(1000, 3))
    found = {(0,): x[:, 0], (2,): 2 * x[:, 2], (0, 2): 3 * x[:, 1]}
    f, rows = sum(found.values()), np.arange(0, 1000, 2)
    assert_close(halves.largest_share(found, f, rows), 9 * x[rows, 1].var() / f[rows].var())
    totals = halves.totals(found, f, np.arange(1000))
    shares = {u: np.cov(values, f, bias=True)[0, 1] / f.var() for u, values in found.items()}
    assert_close(totals, [shares[0,] + shares[0, 2], 0.0, shares[2,] + shares[0, 2]])
    assert_close(halves.correlation(totals, 2 * totals + 1), 1.0)
    assert_close(halves.correlation(np.array([1.0, 2.0]), np.array([1.0, 2.0, 0.0])), 1.0)


def test_figures_of_an_exact_and_of_a_random_method():
    X = np.random.default_rng(0).normal(size=(200, 2))
    f = X[:, 0] + 0.5 * X[:, 1]
    knows = halves.figures(lambda rows: {(0,): X[:, 0], (1,): 0.5 * X[:, 1]}, f, n_splits=3)
    assert knows["instability"] == 0
    assert_close(knows["fidelity"], 1.0)
    assert knows["ST"] > 0.9 and 0.7 < knows["largest Sa"] < 1
    rng = np.random.default_rng(1)
    guesses = halves.figures(lambda rows: {(0,): 10 * rng.normal(size=200), (1,): 0 * f}, f, n_splits=3)
    assert guesses["instability"] > 30 and guesses["fidelity"] < 0 and guesses["largest Sa"] > 30


def test_totals_are_those_of_the_estimator_up_to_a_factor():
    X = np.random.default_rng(0).normal(size=(500, 3))
    model = stability.GradientBoostingRegressor(n_estimators=10, random_state=0).fit(X, X[:, 0] + X[:, 1] ** 2)
    hdmr = quietly(stability.TreeHDMR(model, order=1).fit)(X)
    found = halves.totals(stability.components(hdmr, X), model.predict(X), np.arange(len(X)))
    assert_close(halves.correlation(found, hdmr.sensitivity_.ST), 1.0)


# --- what is true -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_a_copula_of_gaussians_has_the_closed_form(rho):
    known = exact.bilinear(rho)
    one = copula.Copula(
        "", rho, [stats.norm(), stats.norm()], {0: lambda x: 1 + x, 1: lambda x: x}, {(0, 1): lambda x, y: x * y}
    )
    X, f = one.sample(500, seed=0)
    rows, values = known.sample(500, seed=0)
    assert_close(X, rows)
    assert_close(f, values)
    found = one.components(X)
    for u, component in known.components(X).items():
        scale = np.abs(component).max()
        assert_close(found[u] / scale, component / scale, 1e-6, reason="cubic splines; turns end at 1e-8")


def test_components_of_the_copula():
    problem = copula.six_variables(0.5)
    X, f = problem.sample(2000, seed=1)
    found = problem.components(X)
    total = sum(found.values())
    assert_close(total - total.mean(), f - f.mean())
    # A pair's component has no mean given one of its variables; the nodes are others than those of its projection.
    nodes, weights = np.polynomial.hermite_e.hermegauss(120)
    near = np.abs(nodes) < 6
    nodes, weights = nodes[near], weights[near] / weights.sum()
    for i, j in problem.pairs:
        for given, other in ((i, j), (j, i)):
            for z in (-1.5, 0.2, 1.0):
                scores = np.zeros((len(nodes), problem.n_features))
                scores[:, given], scores[:, other] = z, 0.5 * z + np.sqrt(0.75) * nodes
                rows = np.column_stack([m.ppf(ndtr(s)) for m, s in zip(problem.margins, scores.T, strict=True)])
                mean = weights @ problem.components(rows)[i, j]
                # Splines between points of the grid, and the nodes of both quadratures.
                assert abs(mean) < 1e-4 * found[i, j].std()


def test_errors_are_of_centred_components_by_order():
    truth = {"f_1": np.array([1.0, -1.0]), "f_12": np.array([2.0, -2.0])}
    assert stability_truth.order_errors(truth | {"output": np.ones(2)}, truth, 2.0) == [0, 0]
    found = {"f_1": np.array([2.0, -2.0]), "f_2": np.array([3.0, -3.0])}
    assert stability_truth.order_errors(found, truth, 2.0) == [(1 + 9) / 2, 4 / 2]


# --- other packages -----------------------------------------------------------------------------------------------


def test_main_effects_of_a_table_are_subtracted():
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 4, size=(6, 5)).astype(float)
    weight[2], weight[:, 0] = 0, 0
    rows, columns = interpret_ebm.additive_part(table := rng.normal(size=(6, 5)), weight)
    assert rows[2] == 0 and columns[0] == 0
    left = weight * (table - np.vdot(weight, table) / weight.sum() - rows[:, None] - columns)
    scale = np.abs(weight * table).max()
    assert_close(left.sum(axis=0) / scale, np.zeros(5))
    assert_close(left.sum(axis=1) / scale, np.zeros(6))
    assert_close([weight.sum(axis=1) @ rows / scale, weight.sum(axis=0) @ columns / scale], [0, 0])


@pytest.fixture
def sample():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 2))
    X[:, 1] += 0.5 * X[:, 0]
    return X, X[:, 0] + X[:, 1] + X[:, 0] * X[:, 1]


def test_purification_does_not_change_the_sum(sample):
    pytest.importorskip("interpret")
    X, y = sample
    ebm = interpret_ebm.trained(X, y)
    found = interpret_ebm.purified(ebm, X)
    assert set(found) == {(0,), (1,), (0, 1)}
    assert_close(sum(found.values()), ebm.eval_terms(X).sum(axis=1))
    raw = ebm.eval_terms(X)[:, ebm.term_features_.index((0, 1))]
    for j in (0, 1):
        cell = np.searchsorted(ebm.bins_[j][1], X[:, j], side="right")
        assert np.abs(np.bincount(cell, found[0, 1])).max() < 1e-9 * np.abs(np.bincount(cell, raw)).max()
    (measured,) = measure([interpret_ebm.glass_box(X, y, at=X[:9], limit=60.0)], repeats=0)
    assert_close(measured.summary["f_1"], found[0,][:9] - found[0,][:9].mean())


def test_treehfd_is_evaluated_at_other_rows(sample):
    pytest.importorskip("treehfd")
    X, y = sample
    model = stability.GradientBoostingRegressor(n_estimators=20, random_state=0)
    found, there = measure(
        [treehfd.contender(model, X, y, stage="", limit=60.0, at=at) for at in (None, X[:9])], repeats=0
    )
    assert not found.failure
    assert_close(there.summary["output"], found.summary["output"][:9])
    for name in ("f_1", "f_2", "f_12"):
        assert_close(np.diff(there.summary[name]), np.diff(found.summary[name][:9]))


# --- the tables ---------------------------------------------------------------------------------------------------


def test_every_figure_has_an_earlier_one():
    assert list(stability_earlier.FIGURES) == [case.name for case in stability.CASES]
    names = [problem.name for problem in stability_truth.PROBLEMS]
    assert list(stability_truth.SUMS) == names
    keys = [(name, n, kind) for name in names for n in stability_truth.NOISE for kind in (MODEL, DATA)]
    assert list(stability_earlier.ERRORS) == keys
    assert all(len(seeds) == stability_truth.N_SEEDS for seeds in stability_earlier.ERRORS.values())


def test_figures_are_compared_with_their_limits():
    found = {"instability": 0.03, "fidelity": 0.83, "largest Sa": 0.2, "ST": float("nan")}
    lines, goals = stability.lines(stability.CASES[0], found, {"fidelity": np.array(0.9)})
    assert [line[3:5] for line in lines] == [
        ["<= 0.03", "OK"],
        [">= 0.84", "MISSED"],
        ["<= 0.5", "OK"],
        [">= 0.96", "not measured"],
    ]
    assert [goal.missed for goal in goals] == [False, True, False, True]
    assert lines[1] == ["diabetes, boosting", "fidelity", "0.8300", ">= 0.84", "MISSED", "0.7222", "0.9000"]
    assert stability.lines(replace(stability.CASES[0], bars={}), found, {})[0][0][3:5] == ["", ""]


def test_errors_are_compared_with_their_limits():
    key = ("bilinear Gaussian, rho=0.5", 600, DATA)
    earlier = np.array(stability_earlier.ERRORS[key])
    worse = earlier + np.array([0.0009, 0.0011])
    judged = stability_truth.lines(stability_truth.Cell(*key, worse, earlier[:2] / 1.4))
    lines = [line for line, _ in judged]
    assert [line[4] for line in lines] == ["OK", "MISSED", "MISSED"]
    assert [[goal.missed for goal in goals] for _, goals in judged] == [[False, False], [True, True], [True, False]]
    assert [line[9] for line in lines] == ["OK", "MISSED", ""]
    assert lines[0][7] == f"{earlier[:2, 0].mean() / 1.4:.4f}"
    cells = [stability_truth.Cell(*key, worse, rival) for rival in (2 * earlier[:2], earlier[:0])]
    assert stability_truth.total(cells)[0][6:] == [
        f"{worse[:2].sum() / 2:.4f}",
        *[f"{earlier[:2].sum():.4f}"] * 2,
        "OK",
    ]
    assert stability_truth.total(cells[1:])[0][-1] == ""


def test_the_tables(monkeypatch, capsys):
    small = [
        replace(stability.CASES[k], model=m)
        for k, m in ((0, stability.GradientBoostingRegressor(n_estimators=5)), (6, None))
    ]
    monkeypatch.setattr(stability, "CASES", small)
    monkeypatch.setattr(stability, "N_SPLITS", 2)
    monkeypatch.setattr(stability_truth, "PROBLEMS", [exact.bilinear(0.5)])
    monkeypatch.setattr(stability_truth, "NOISE", {200: 0.5})
    monkeypatch.setattr(stability_truth, "N_TREES", 10)
    monkeypatch.setattr(stability_truth, "N_SEEDS", 2)
    monkeypatch.setattr(stability_truth, "N_FRESH", 300)
    for package in ("treehfd", "interpret"):
        monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setitem(sys.modules, "xgboost", None)
    goals = stability.run(quick=True, repeats=1)
    out = capsys.readouterr().out
    assert "EBM, diabetes, HDMR of y: not with --quick" in out
    assert out.count("ModuleNotFoundError") == 3  # treehfd twice, EBM once
    lines = out.splitlines()
    assert sum(line.startswith("diabetes, ") for line in lines) == 2 * 4
    errors = [line.split()[-1] for line in lines if line.startswith("bilinear Gaussian, rho=0.5")]
    assert len(errors) == 6
    missed = sum(goal.missed for goal in goals)
    assert missed > 0 and lines[-1].endswith(f", {missed} MISSED")
