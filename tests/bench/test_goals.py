"""Goals, and that `python -m bench --check` prints missed ones and exits with 1."""

import math
import sys

import pytest

from bench import __main__ as command
from bench.goals import Goal, at_most, goals_table, missed

GOOD = [Goal("fast", 3.0, 2.0), at_most("exact", 0.1, 0.1), Goal("nothing asked", 1.0, math.nan)]
BAD = [Goal("slow", 1.0, 2.0), at_most("inexact", 0.2, 0.1), Goal("unknown", math.nan, 2.0)]


@pytest.fixture
def run(monkeypatch):
    """Run the command with two made-up problems."""
    called = []

    def problem(goals):
        return lambda *, quick, repeats: called.append((quick, repeats)) or goals

    monkeypatch.setattr(command, "PROBLEMS", {"good": problem(GOOD), "bad": problem(BAD), "none": problem([])})

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["bench", *arguments])
        monkeypatch.setattr(sys.stdout, "reconfigure", lambda **options: None, raising=False)
        called.clear()
        command.main()
        return called

    return run


def test_goals_are_compared_with_figures():
    assert [goal.verdict() for goal in GOOD] == ["OK", "OK", ""]
    assert [goal.verdict() for goal in BAD] == ["MISSED", "MISSED", "not measured"]
    assert not any(goal.missed for goal in GOOD) and all(goal.missed for goal in BAD)
    assert [line.split() for line in goals_table(GOOD).splitlines()[2:]] == [
        ["fast", "OK", "3", ">=", "2"],
        ["exact", "OK", "0.1", "<=", "0.1"],
        ["nothing", "asked", "1"],
    ]
    assert [goal.what for goal in missed({"good": GOOD, "bad": BAD})] == ["bad: slow", "bad: inexact", "bad: unknown"]


@pytest.mark.parametrize("names", [[], ["bad"], ["bad", "none"]])
def test_check_fails_and_prints_missed_goals(run, capsys, names):
    with pytest.raises(SystemExit) as stopped:
        run(*names, "--check")
    assert stopped.value.code == 1
    out = capsys.readouterr().out
    assert f"check: {0 if names else 2} of {3 if names else 5} goals reached" in out
    assert out.count("MISSED") == 2 and out.count("not measured") == 1 and "bad: inexact" in out


def test_check_passes_if_no_goal_is_missed(run, capsys):
    with pytest.raises(SystemExit) as stopped:
        run("good", "none", "--quick", "--check", "--repeats", "2")
    assert stopped.value.code == 0
    assert capsys.readouterr().out == "\ncheck: 2 of 2 goals reached\n"


def test_without_check_goals_are_only_printed(run):
    assert run("bad", "--quick") == [(True, 5)]
