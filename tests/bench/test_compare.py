"""The comparison of two versions finds losses beyond the spread of the base, and only these; the table of several."""

import math

import pytest
from sklearn.datasets import make_friedman1

import fasthdmr
from bench import problem_lines
from bench.compare import LEAST_SPREAD, judged
from bench.history import history_table
from bench.workloads import NAMES, ratio_of, reference, seconds_of, workloads


def test_a_loss_is_more_than_twice_the_spread():
    base, again = {"a": 1.0, "b": 1.0, "c": 1.0}, {"a": 1.1, "b": 1.0, "c": 1.0}
    lines = judged([(base, {"a": 1.2, "b": 1.03, "c": 1.01}, again)] * 3)
    assert [(name, lost) for name, _, _, lost in lines] == [("a", False), ("b", True), ("c", False)]
    assert lines[0][1:3] == (pytest.approx(1.2 / 1.05), pytest.approx(0.1 / 1.05))
    assert lines[1][2] == LEAST_SPREAD


def test_a_spread_is_at_least_that_of_most_calls():
    base, again = {"a": 1.0, "b": 1.0, "c": 1.0}, {"a": 1.0, "b": 1.2, "c": 1.4}
    head = {"a": 1.3, "b": 1.0, "c": 1.0}
    assert judged([(base, head, again)])[0] == ("a", pytest.approx(1.3), pytest.approx(0.2 / 1.1), False)


def test_one_slow_round_is_no_loss():
    quick, slow = {"a": 1.0}, {"a": 9.0}
    assert not judged([(quick, quick, quick), (quick, slow, quick), (quick, quick, quick)])[0][3]


def test_a_call_is_repeated_until_its_time_can_be_measured():
    calls = []
    assert 0 < seconds_of(lambda: calls.append(sum(range(1000)))) < 1
    assert len(calls) > 10


def test_a_call_that_head_has_lost_is_a_loss_and_one_that_the_base_lacks_is_left_out():
    base, head = {"a": 1.0, "b": math.nan}, {"a": math.nan, "b": 1.0}
    assert [(name, lost) for name, _, _, lost in judged([(base, head, base)])] == [("a", True)]


def test_a_ratio_is_that_of_the_times():
    count = [0, 0]

    def call(k, n):
        count[k] += 1
        sum(range(n))

    assert 1 < ratio_of(lambda: call(0, 20_000), lambda: call(1, 2_000)) < 1000
    assert min(count) > 10


def test_a_function_that_a_version_does_not_have_has_no_ratio():
    assert math.isnan(ratio_of(lambda: fasthdmr.no_such_function, reference()))


@pytest.mark.filterwarnings("ignore:The residual has")
def test_the_lines_of_problems_run(cache, monkeypatch):
    X, y = make_friedman1(300, 8, random_state=0)
    monkeypatch.setattr(problem_lines, "california", lambda: (X, y, ()))
    calls = problem_lines.workloads(fasthdmr, n_trees=100)
    assert calls["predict, depth 1"]().shape == calls["deep, 10000 rows"]().shape == (300,)
    assert calls["B by tree, depth 2, 10 N"]().shape[0] == 3000
    for name, call in calls.items():
        assert call() is not None, name


@pytest.mark.filterwarnings("ignore:The residual has")
def test_all_ten_calls_run():
    calls = workloads(fasthdmr)
    assert tuple(calls) == NAMES
    assert len(calls) == 10
    for name, call in calls.items():
        assert call() is not None, name


def test_the_history_has_the_medians_of_versions_and_dashes_for_what_they_lack():
    rounds = [
        [dict.fromkeys(NAMES, old) | {"load": math.nan}, dict.fromkeys(NAMES, new)]
        for old, new in [(4, 1), (2, 3), (3, 2)]
    ]
    lines = history_table(["old", "new"], rounds).splitlines()
    assert lines[0].split() == ["call", "old", "new"]
    assert lines[2].split() == ["load", "-", "2.000"]
    assert lines[-1].split() == ["save", "and", "load", "3.000", "2.000"]
