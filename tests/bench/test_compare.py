"""The comparison of two versions finds losses beyond the spread of the base, and only these."""

import pytest

from bench.compare import LEAST_SPREAD, judged
from bench.workloads import seconds_of


def test_a_loss_is_more_than_twice_the_spread():
    base, again = {"a": 1.0, "b": 1.0}, {"a": 1.1, "b": 1.0}
    lines = judged([(base, {"a": 1.2, "b": 1.03}, again)] * 3)
    assert [(name, lost) for name, _, _, lost in lines] == [("a", False), ("b", True)]
    assert lines[0][1:3] == (pytest.approx(1.2 / 1.05), pytest.approx(0.1 / 1.05))
    assert lines[1][2] == LEAST_SPREAD


def test_one_slow_round_is_no_loss():
    quick, slow = {"a": 1.0}, {"a": 9.0}
    assert not judged([(quick, quick, quick), (quick, slow, quick), (quick, quick, quick)])[0][3]


def test_a_call_is_repeated_until_its_time_can_be_measured():
    calls = []
    assert 0 < seconds_of(lambda: calls.append(sum(range(1000)))) < 1
    assert len(calls) > 10
