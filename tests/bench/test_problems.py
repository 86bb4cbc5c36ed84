"""The benchmark suite in a tiny configuration: it runs, its reference is right, it flags what is wrong."""

import json
import os
import sys
import time
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from tolerance import assert_close

from bench import data, ishigami, models, report
from bench.contenders import interpret_ebm, numpy_reference, salib_hdmr, shap_interactions, treehfd
from bench.paper import cali, housing, rf_claim, scsa_ishi
from bench.paper.ishigami import member
from bench.paper.options import Options
from bench.problems import accuracy, accuracy_rivals, spans, trees, triangle
from bench.runner import Contender, measure

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "algebra.json").read_text())


pytestmark = pytest.mark.usefixtures("cache")


@pytest.fixture
def sample():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    X[:, 1] += 0.5 * X[:, 0]
    y = X[:, 0] + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(300)
    return X, y


def test_ours_agrees_with_the_reference(sample):
    X, y = sample
    measurements = measure(trees.contenders(models.boosted(X, y, n_trees=20), X, y), repeats=1)
    assert [m.failure for m in measurements] == [""] * len(measurements)
    truth = next(m.summary for m in measurements if m.contender.name == "NumPy reference")
    for measurement in measurements:
        found = trees.errors(measurement, truth)
        assert not any(trees.is_wrong(name, error) for name, error in found.items())
        if measurement.contender.name.startswith("ours"):
            assert found
    text = trees.result_table(measurements, truth["features"].shape)
    assert "WRONG" not in text and "failed" not in text


def test_a_wrong_answer_is_flagged(sample):
    X, y = sample
    reference = numpy_reference.contenders(models.boosted(X, y, n_trees=5), X, y, alpha=1.0)[0]
    fast = Contender("fast", reference.stage, run=reference.run, summary=lambda result: {"features": result[1]})
    text = trees.result_table(measure([reference, fast], repeats=1), (300, 10))
    assert "WRONG" in next(line for line in text.splitlines() if "fast" in line)


def test_a_failing_contender_is_reported_and_the_others_run():
    def fails(_):
        raise ValueError("no such thing")

    rows = [
        Contender("raises", "fit", run=fails),
        Contender("dies", "fit", run=lambda _: os._exit(1)),
        Contender("runs", "fit", run=lambda prepared: prepared, prepare=lambda: np.ones(3)),
    ]
    raises, dies, runs = measure(rows, repeats=2)
    assert "ValueError: no such thing" in raises.failure
    assert "died" in dies.failure
    assert not runs.failure and len(runs.seconds) == 2
    assert "no such thing" in trees.result_table([raises, dies, runs], (10, 1))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux can reset the peak of a process")
def test_peak_memory_is_what_a_run_allocates():
    (found,) = measure([Contender("50 MB", "", run=lambda _: np.ones(50_000_000, np.uint8).sum())], repeats=0)
    assert 49e6 < found.peak < 60e6


def test_a_slow_contender_runs_once_and_is_stopped_at_its_limit():
    once, stopped, free = measure(
        [
            Contender("once", "", run=lambda _: time.sleep(0.05), limit=30.0),
            Contender("stopped", "", run=lambda _: time.sleep(30), limit=0.2),
            Contender("free", "", run=lambda _: None),
        ],
        repeats=3,
    )
    assert not once.failure and len(once.seconds) == 1 and once.median >= 0.05
    assert stopped.failure == "stopped after 0.2 s" and not stopped.seconds
    assert len(free.seconds) == 3


def test_a_contender_that_takes_long_has_fewer_runs():
    contenders = [Contender("long", "", lambda _: time.sleep(0.02)), Contender("short", "", lambda _: None)]
    long, short = measure(contenders, repeats=3, budget=0.01)
    assert (len(long.seconds), len(short.seconds)) == (1, 3)


def test_the_reference_decomposes_the_model(sample):
    X, y = sample
    fitted = models.boosted(X, y, n_trees=10)
    reference, components, indices = numpy_reference.fit(fitted, X)
    output = sum(model.predict(X) for model in fitted)
    residue = output - components.sum(axis=1)
    assert_close(residue - residue.mean(), np.zeros(len(X)), 1e-9)
    assert_close(indices[len(indices) // 2 :].sum(), 1.0, 1e-10)
    subspaces, _ = reference.components(np.ones(len(reference.labels) - 1))
    for u, component in zip(subspaces, components.T, strict=True):
        lower = [label != u and set(label) < set(u) for label in reference.labels]
        inner = reference.B[:, lower].T @ component
        scale = np.linalg.norm(reference.B[:, lower], axis=0) * np.linalg.norm(component)
        assert np.all(np.abs(inner) <= 1e-9 * scale)


def test_models_are_fitted_once(sample, cache):
    X, y = sample
    first = models.boosted(X, y, depths=(2,), n_trees=5)[0]
    (path,) = cache.iterdir()
    written = path.stat().st_mtime_ns
    again = models.boosted(X, y, depths=(2,), n_trees=5)[0]
    assert path.stat().st_mtime_ns == written
    assert np.array_equal(first.predict(X), again.predict(X))
    models.boosted(X, y, depths=(2,), n_trees=6)
    models.boosted(X, y + 1, depths=(2,), n_trees=5)
    assert len(list(cache.iterdir())) == 3


@pytest.mark.skipif(data.california_file() is None, reason="no california_housing.csv: set FASTHDMR_DATA")
def test_california_is_standardised():
    X, y, names = data.california()
    assert X.shape == (20640, 8) and names[0] == "MedInc" and names[-1] == "Longitude"
    table = np.column_stack([X, y])
    assert_close(table.std(axis=0), np.ones(9), 1e-12)
    assert np.all(np.abs(table.mean(axis=0)) < 1e-11)


def test_ishigami_is_the_golden_one():
    golden = GOLDEN["6_ishigami"]
    exact = ishigami.exact_indices()
    assert_close([exact[(0,)], exact[(1,)], exact[(0, 2)]], [golden["S1"], golden["S2"], golden["S13"]])
    X, y = ishigami.sample(200_000, seed=0)
    f1, f2 = ishigami.main_effects(X)
    # Monte Carlo: the standard error of these variances is below 0.4 %.
    variances = [y.var(), f1.var(), f2.var()]
    for found, exact_variance in zip(variances, [golden["V"], golden["V1"], golden["V2"]], strict=True):
        assert abs(found / exact_variance - 1) < 0.02
    point = golden["at_point"]
    assert_close([f[0] for f in ishigami.main_effects(np.array([point["x"]]))], [point["f1"], point["f2"]])


def test_the_papers_numbers_are_copied_right():
    for Sa, Sb, S, *_ in scsa_ishi.PAPER.values():
        assert abs(Sa + Sb - S) < 0.0101
    for Sa, Sb, S in cali.PAPER.values():
        assert abs(Sa + Sb - S) < 2e-4
    assert abs(sum(T for T, _ in cali.PAPER_TOTALS.values()) - cali.PAPER_SUMS[3]) < 1e-3


def test_the_ishigami_table(monkeypatch, capsys):
    monkeypatch.setattr(scsa_ishi, "member", lambda kind, depth, n, X, y: member(kind, depth, 30, X, y))
    scsa_ishi.run(Options(realisations=1, quick=True))
    lines = capsys.readouterr().out.splitlines()
    assert sum("exact" in line for line in lines) == len(scsa_ishi.SUBSPACES)


def test_the_california_table(sample, monkeypatch, capsys):
    X, y = np.hstack([sample[0], sample[0][::-1]]), sample[1]
    monkeypatch.setattr(housing, "california", lambda: (X, y, tuple(cali.PAPER_TOTALS)))
    monkeypatch.setattr(housing, "boosted", lambda X, y, n_trees: models.boosted(X, y, n_trees=10))
    monkeypatch.setattr(housing, "decomposed", housing.decomposed.__wrapped__)
    cali.run(Options(quick=True))
    assert "all components" in capsys.readouterr().out


def test_the_claim_on_forests(monkeypatch, capsys):
    small = replace(rf_claim.BASE, n_trees=200, n_rows=1000)
    monkeypatch.setattr(rf_claim, "SETTINGS", [small, replace(small, depths=(1, 2, None))])
    rf_claim.run(Options(realisations=1, quick=True))
    assert "Does RF lose more?" in capsys.readouterr().out
    made_up = {"rf": np.array([[0.3, 0.2], [0.33, 0.4]]), "gbr": np.array([[0.1, 0.1], [np.nan, np.nan]])}
    text = rf_claim.answer(made_up)
    assert "yes: its error is the larger in 2 of 2 cases" in text
    assert "f_1 is insensitive" in text and "f_2 is sensitive" in text


def test_tables_are_aligned():
    lines = report.table(["a", "b", "c"], [["long name", "x", "1"], ["y", "z", "1000"]]).splitlines()
    assert lines[1] == "---------  -  ----"
    assert [len(line) for line in lines] == [18] * 4
    assert report.relative_error(np.ones(2), np.ones(3)) == float("inf")


PEERS = [
    (treehfd, 0.2),  # it projects each tree separately, and omits a part
    (interpret_ebm, 1e-9),
    (shap_interactions, 1e-5),  # single precision
]


@pytest.mark.parametrize(("peer", "tolerance"), PEERS, ids=["treehfd", "interpret", "shap"])
def test_a_peer_sums_to_its_model(peer, tolerance, sample):
    X, y = sample[0][:, :2], sample[1]
    model = models.boosted(X, y, depths=(3,), n_trees=20)[0]
    (found,) = measure([peer.contender(model, X, y, stage="", limit=60.0)], repeats=0)
    if "ModuleNotFoundError" in found.failure:
        pytest.skip(found.failure)
    assert not found.failure
    assert {"f_1", "f_2", "f_12", "output"} == set(found.summary)
    output = found.summary.pop("output")
    assert_close(sum(found.summary.values()), output - output.mean(), tolerance, reason="see PEERS")


def test_a_missing_package_is_reported(sample, monkeypatch):
    monkeypatch.setitem(sys.modules, "shap", None)
    (found,) = measure([shap_interactions.contender(None, *sample, stage="", limit=60.0)], repeats=0)
    assert "ModuleNotFoundError" in found.failure and "shap" in found.failure


def test_salib_names_its_indices_as_we_do():
    pytest.importorskip("SALib")
    X, y = ishigami.sample(500, seed=0)
    (found,) = measure(salib_hdmr.contenders(X, y, order=2, stage="", limit=60.0)[:1], repeats=0)
    assert not found.failure
    assert set(found.summary) == {"S_1", "S_2", "S_3", "S_12", "S_13", "S_23"}
    assert abs(found.summary["S_2"] - 0.44) < 0.15


def test_accuracy_compares_with_the_limits():
    seeds = [[accuracy.Figure("S_1", found, 0.1, 0.5), accuracy.Figure("L2", found, 0.55)] for found in (0.3, 0.8)]
    (index, error), goals = accuracy.rows("problem", seeds)
    assert not any(goal.missed for goal in goals)
    assert index == ["problem", "S_1", "0.5000", "0.5500", "", "0.0500", "0.3000", "0.1000", "OK"]
    assert error == ["problem", "L2", "", "0.5500", "", "0.5500", "0.8000", "0.5500", "OK"]
    (index, _), goals = accuracy.rows("problem", seeds[1:])
    assert index[-1] == "MISSED" and goals[0].missed


def test_the_table_of_accuracy(monkeypatch, capsys):
    monkeypatch.setattr(accuracy, "N_ROWS", 1000)
    monkeypatch.setattr(accuracy, "CASES", [(name, 30, case) for name, _, case in accuracy.CASES[:3]])
    monkeypatch.setattr(accuracy_rivals, "run", lambda **options: [])
    goals = accuracy.run(quick=True, repeats=1)
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.endswith(("OK", "MISSED")) for line in lines) == 10 + 4 + 8
    assert sum(goal.verdict() != "" for goal in goals) == 10 + 4 + 8


def test_the_tables_of_other_packages(monkeypatch):
    monkeypatch.setattr(accuracy_rivals, "N_ROWS", 1000)
    monkeypatch.setattr(accuracy_rivals, "N_TREES", 30)
    monkeypatch.setattr(accuracy_rivals, "RIVALS", [treehfd, shap_interactions])
    text, goals = accuracy_rivals.correlated(1, accuracy.trained)
    assert len(goals) == 6
    lines = {line.split("  ")[0]: line.split() for line in text.splitlines()}
    assert len(lines["ours"]) == 6 and float(lines["ours"][1]) < 0.3
    assert "ours against the best package's" in text
    text, _ = accuracy_rivals.sampled(1, sizes=(300,))
    assert next(line for line in text.splitlines() if line.startswith("ours")).endswith(("OK", "MISSED"))


@pytest.mark.filterwarnings("ignore::fasthdmr.ResidualWarning")  # of few, deep trees
def test_the_tables_of_the_spans(sample, monkeypatch, capsys):
    monkeypatch.setattr(spans, "california", lambda: (*sample, ()))
    few = lambda X, y, n_trees, **options: models.boosted(X, y, n_trees=10, **options)  # noqa: E731
    monkeypatch.setattr(spans, "boosted", few)
    monkeypatch.setattr(spans, "fitted", lambda trees, X, y: trees.set_params(n_estimators=3).fit(X, y))
    spans.run(quick=True, repeats=1)
    out = capsys.readouterr().out
    # A package that is not installed is reported, and the others run.
    assert out.count("ours, 1 thread") == 2 and "died" not in out
    assert out.count("Error") == out.count("ModuleNotFoundError: No module named")
    assert "spline / trees, fit" in out


def test_the_operations_of_the_spans():
    # 7 polynomials hold the products of two splines, and 4 of these the splines.
    assert spans.operations([(0,)], n_rows=10) == 10 * 2 * 7
    assert spans.operations([(0, 1)], n_rows=1) == 2 * (7 + 7 + 49)
    degrees = [sum(d > 3 for d in each) for each in product(range(7), repeat=3)]
    assert spans.operations([(0, 1, 2), (0, 1, 2)], n_rows=1) == 2 * (3 * 7 + 3 * 49 + sum(d <= 1 for d in degrees))


def test_the_table_of_the_triangle(sample, monkeypatch, capsys):
    X, y = np.tile(sample[0], (7, 1)), np.tile(sample[1], 7)
    X += 0.1 * np.random.default_rng(1).standard_normal(X.shape)
    monkeypatch.setattr(triangle, "california", lambda: (X, y, ()))
    monkeypatch.setattr(triangle, "boosted", lambda X, y, n_trees: models.boosted(X, y, n_trees=10))
    goals = triangle.run(quick=True, repeats=1)
    out = capsys.readouterr().out
    assert out.count("  ours  ") == out.count("  dgeqrf  ") == 2
    assert [goal.verdict() for goal in goals[1::2]] == ["OK", "OK"] and "failed" not in out


def test_the_exact_triangle_is_more_exact():
    design = triangle.with_ones(triangle.synthetic(200, 6, 1e6))
    exact = triangle.exact_triangle(design)
    error = np.abs(exact.T @ exact - design.T.astype(np.longdouble) @ design).max() / np.abs(exact).max() ** 2
    assert error < 10 * np.finfo(np.longdouble).eps
    condition = triangle.condition_of(design)
    R = np.linalg.qr(design, mode="r")
    R *= np.where(np.diag(R) < 0, -1.0, 1.0)[:, None]
    assert triangle.error(R, exact, condition) < 10
    R[0, 1] *= 1 + 1e-6  # where eps times the condition is 2e-10
    assert triangle.error(R, exact, condition) > 100
