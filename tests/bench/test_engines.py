"""The benchmarks of the engine in a tiny configuration: they run, their loops are right, they flag what is wrong."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from tolerance import assert_close

from bench import few_rows, models, synthetic, timings
from bench.contenders import (
    lleaves_engine,
    numpy_loops,
    onnx_engine,
    ours,
    sklearn_predict,
    treelite_engine,
    ydf_engine,
)
from bench.problems import deep, engines, scaling, tables
from bench.runner import Contender, Measurement, measure
from fasthdmr import load_forest

pytestmark = pytest.mark.usefixtures("cache")


@pytest.fixture
def sample():
    rng = np.random.default_rng(0)
    # On a grid, so that rows lie on thresholds, and thresholds at 0 occur.
    X = rng.integers(-4, 5, (300, 4)) / 4
    return X, X[:, 0] + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(300)


@pytest.fixture
def on_thresholds(sample):
    """A boosting, a forest, and rows on their thresholds and beside them in single precision."""
    X, y = sample
    boosting = GradientBoostingRegressor(n_estimators=30, max_depth=3, random_state=0).fit(X, y)
    forest = RandomForestRegressor(n_estimators=10, min_samples_leaf=5, random_state=0).fit(X, y)
    thresholds = np.unique(np.concatenate([t.tree_.threshold for t in [*boosting.estimators_.ravel(), *forest]]))
    exact = thresholds.astype(np.float32)
    beside = [np.nextafter(exact, np.float32(end)) for end in (-np.inf, np.inf)]
    values = np.concatenate([exact, *beside])
    return boosting, forest, np.random.default_rng(1).choice(values, (500, 4)).astype(np.float64)


def test_the_loops_are_b(on_thresholds):
    boosting, _, X = on_thresholds
    found = measure(numpy_loops.contenders(boosting, X, stage="", limit=60.0), repeats=0)
    assert [m.failure for m in found] == [""] * 4
    forest = load_forest(boosting)
    for m in found[:3]:
        assert_close(m.summary["B by tree"], forest.group_features(X), 1e-12)
    assert_close(found[3].summary["B by node"], forest.group_features(X, by="node"), 1e-12)


RIVALS = [
    (ydf_engine.contender, "ydf", 2e-6),  # single precision, as the third
    (lleaves_engine.contender, "lleaves", 1e-12),
    (onnx_engine.contender, "onnxruntime", 2e-6),
    (treelite_engine.walk, "treelite", 1e-12),
    (treelite_engine.compiled, "tl2cgen", 1e-12),
]


@pytest.mark.parametrize(("make", "package", "tolerance"), RIVALS, ids=[package for _, package, _ in RIVALS])
def test_other_engines_compute_the_same(make, package, tolerance, on_thresholds):
    boosting, forest, X = on_thresholds
    for model in [boosting] if package in ("lleaves", "tl2cgen") else [boosting, forest]:
        (found,) = measure([make(model, X, stage="")], repeats=0)
        if "ModuleNotFoundError" in found.failure:
            pytest.skip(found.failure)
        assert not found.failure
        assert_close(found.summary["output"], model.predict(X), tolerance, reason="see RIVALS")


def test_thresholds_are_shifted_to_the_other_comparison(on_thresholds):
    boosting, _, X = on_thresholds
    moved = ydf_engine.shifted(boosting)
    for tree, other in zip(boosting.estimators_.ravel(), moved.estimators_.ravel(), strict=True):
        inner = tree.tree_.children_left >= 0
        rows = X[:, tree.tree_.feature[inner]]
        assert np.array_equal(rows > tree.tree_.threshold[inner], rows >= other.tree_.threshold[inner])
    assert not np.array_equal(boosting.estimators_[0, 0].tree_.threshold, moved.estimators_[0, 0].tree_.threshold)


def test_a_conversion_is_kept(on_thresholds, cache):
    boosting, forest, _ = on_thresholds
    written = []

    def write(path):
        written.append(path)
        path.write_text("converted")

    paths = [models.converted(model, "kind", write) for model in (boosting, boosting, forest)]
    assert len(written) == 2 and paths[0] == paths[1] != paths[2]
    assert sorted(cache.iterdir()) == sorted({*paths})


def test_a_conversion_that_fails_leaves_nothing(on_thresholds, cache):
    def write(path):
        path.write_text("conv")
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        models.converted(on_thresholds[0], "kind", write)
    assert list(cache.iterdir()) == []


def found(name, seconds, **summary):
    return Measurement(Contender(name, "stage", run=lambda _: None), [seconds], summary=summary)


def test_a_wrong_output_is_flagged():
    truth = {"output": np.array([1.0, 2.0])}
    rows = [
        found("right", 1.0, output=np.array([1.0, 2.0 + 1e-14])),
        found("single", 2.0, output=np.array([1.0, 2.00001], np.float32)),
        found("double", 2.0, output=np.array([1.0, 2.00001])),
        found("other shape", 2.0, output=np.ones(3)),
    ]
    lines = timings.timing_table(rows, lambda _: 0.5, truth).splitlines()[2:]
    assert ["WRONG" in line for line in lines] == [False, False, True, True]
    assert lines[1].split()[-3:-1] == ["2.00", "4.0"]


def test_the_fastest_published_engine():
    block = [found("lleaves, vectorised", 0.1), found("YDF, 1 thread", 0.2), found("tl2cgen, 1 thread", 0.3)]
    assert engines.fastest(block) == ("YDF, 1 thread", 0.2)


def test_the_tables_of_the_engines(sample, monkeypatch, capsys):
    monkeypatch.setattr(engines, "california", lambda: (*sample, ()))
    monkeypatch.setattr(
        engines, "boosted", lambda *rows, n_trees, **options: models.boosted(*rows, n_trees=10, **options)
    )
    monkeypatch.setattr(engines, "RIVALS", False)
    engines.run(quick=True, repeats=1)
    out = capsys.readouterr().out
    assert "failed" not in out and "WRONG" not in out and "Error" not in out
    assert out.count("model to B by node") == 3 * 2  # a row and a goal a depth
    assert "not measured" not in out.split("goal")[-1].split("lleaves, vectorised")[0]
    assert out.count("calls of one row  ours, predict, 1 thread") == 1


def test_the_table_of_deep_trees(sample, monkeypatch, capsys):
    monkeypatch.setattr(deep, "california", lambda: (*sample, ()))
    monkeypatch.setattr(deep, "RIVALS", False)
    deep.run(quick=True, repeats=1)
    out = capsys.readouterr().out
    assert "failed" not in out and "WRONG" not in out
    assert out.count("not measured") == 2  # the other engines


def test_rows_one_by_one_give_the_output(on_thresholds):
    boosting, _, X = on_thresholds
    (found,) = measure([few_rows.one_by_one(sklearn_predict.engine, boosting, X[:7])], repeats=0)
    assert_close(found.summary["output"], boosting.predict(X[:7]))


def test_the_same_rows_are_repeated(on_thresholds):
    boosting, _, X = on_thresholds
    (found,) = measure([few_rows.repeated(sklearn_predict.engine, boosting, X[:4], "again")], repeats=0)
    assert found.contender.stage == "again"
    assert_close(found.summary["output"], np.tile(boosting.predict(X[:4]), few_rows.CALLS))


def test_visits_are_counted(sample):
    X, y = sample
    model = RandomForestRegressor(n_estimators=3, max_depth=1, random_state=0).fit(X, y)
    assert deep.visits(model, X) == 3 * len(X)


def test_synthetic_trees_have_the_given_shape():
    trees = synthetic.random_trees(20, 3, 5)
    forest, X = trees.forest(), synthetic.rows(200, 5)
    node = np.zeros((200, 20), dtype=int)
    of_tree = trees.tree_offsets[:-1]
    for _ in range(3):
        at = of_tree + node
        left = np.take_along_axis(X, trees.feature[at], axis=1) <= trees.threshold[at]
        node = np.where(left, trees.left[at], trees.right[at])
    assert_close(trees.value[of_tree + node, 0].sum(axis=1), forest.predict(X), 1e-12)
    binned = synthetic.random_trees(1000, 1, 5, n_thresholds=3)
    assert set(binned.threshold[binned.left >= 0]) == {0.25, 0.5, 0.75}
    assert [group.subspace for group in synthetic.columns(5, 3).forest().groups] == [(0,), (1,), (2,), (0, 1), (0, 2)]


def test_a_slope_is_that_of_the_upper_half():
    curve = scaling.Curve("n", "what", (1, 10, 100, 1000), lambda n: None, 2, "why", 0)
    points = scaling.Points(curve, [Measurement(None, [t], peak=7) for t in (1.0, 1.0, 1e4, 1e6)])
    assert_close(points.slope(points.seconds()), 2.0, 1e-9)
    (time_line, memory_line), goals = scaling.lines(points)
    assert time_line[-3:] == ["2.00", "2", "OK"]
    assert memory_line[-1] == "OK"
    assert not any(goal.missed for goal in goals)
    (_, memory_line), goals = scaling.lines(replace(points, curve=replace(curve, memory=-1)))
    assert memory_line[-1] == "MISSED" and goals[1].missed


def test_the_curves(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(scaling, "powers", lambda low, high: (100, 1000))
    monkeypatch.setattr(scaling, "PANELS", [scaling.with_rows, scaling.with_variables])
    scaling.run(quick=True, repeats=1, out=tmp_path / "plots")
    assert (tmp_path / "plots" / "scaling.png").stat().st_size > 10_000
    lines = [line for line in capsys.readouterr().out.splitlines() if line.endswith(("OK", "MISSED"))]
    assert len(lines) == 3 + 3 + 2


def test_every_curve_runs(monkeypatch):
    monkeypatch.setattr(scaling, "powers", lambda low, high: (100,))
    for panel in scaling.PANELS:
        for curve in panel(True):
            row = curve.at(curve.sizes[0])
            row.run(row.prepare())


def test_the_notes_name_the_kernels_that_run(sample):
    X, y = sample
    (model,) = models.boosted(X, y, depths=(2,), n_trees=5)
    names = [row.name for row in ours.engine(model, X, stage="")]
    assert {ours.columns_name(by, n_jobs) for by in engines.SORTINGS for n_jobs in (1, 2)} <= set(names)


def test_tables_are_chosen_for_many_trees_on_few_thresholds():
    lines = list(tables.measured([1, 300], n_rows=100, repeats=1))
    assert len(lines) == len(tables.GROUPS) * len(tables.THRESHOLDS) * 2
    assert {(line[2], line[6]) for line in lines} == {("1", "walk"), ("300", "tables")}
