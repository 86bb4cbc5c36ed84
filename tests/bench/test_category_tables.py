"""The benchmark of categorical variables in a tiny configuration, and the exact HDMR of tables."""

import numpy as np
import pytest
from tolerance import assert_close

from bench import tables
from bench.contenders import table_anova as contender
from bench.contenders.interpret_ebm import additive_part
from bench.problems import categories
from bench.runner import measure


@pytest.mark.parametrize("is_numeric", [False, True])
def test_alternating_means_are_the_best_additive_fit(is_numeric):
    case = tables.case(30, 2000, is_numeric=is_numeric)
    rows, columns, cells = tables.alternating_means(case.table, case.weight)
    desired = additive_part(case.table, case.weight)
    assert_close(rows, desired[0], 1e-10)
    assert_close(columns, desired[1], 1e-10)
    scale = len(case.f) * np.abs(case.table).max()
    assert np.abs((case.weight * cells).sum(axis=0)).max() < 1e-12 * scale
    assert np.abs((case.weight * cells).sum(axis=1)).max() < 1e-12 * scale
    assert_close(case.exact.sum(axis=1) + case.f.mean(), case.f, 1e-12)


def test_lines_and_cells_without_rows_have_no_effect():
    table, weight = (
        np.array([[1.0, 2.0, 9.0], [3.0, 5.0, 9.0], [9.0, 9.0, 9.0]]),
        np.array([[1.0, 2, 0], [3, 0, 0], [0, 0, 0]]),
    )
    rows, columns, cells = tables.alternating_means(table, weight)
    assert rows[2] == columns[2] == 0
    assert not cells[weight == 0].any()


@pytest.mark.parametrize("is_numeric", [False, True])
def test_the_function_of_the_frame_is_that_of_the_table(is_numeric):
    case = tables.case(30, 500, is_numeric=is_numeric)
    assert_close(case.of_frame(case.X), case.f)
    assert len(set(case.X["city"])) == 30


@pytest.mark.parametrize("is_numeric", [False, True])
def test_purification_is_exact_where_interpret_is_installed(is_numeric):
    case = tables.case(30, 2000, is_numeric=is_numeric)
    (m,) = measure([contender.purify(case)], repeats=0)
    if not m.failure.startswith("ModuleNotFoundError"):
        assert_close(m.summary["components"], case.exact, 1e-10)


def test_the_table(monkeypatch, capsys):
    monkeypatch.setattr(categories, "RIVALS", False)
    monkeypatch.setattr(categories, "QUICK_ROWS", 1000)
    goals = categories.run(quick=True, repeats=1)
    out = capsys.readouterr().out
    assert "failed" not in out and "nan" not in out
    assert next(goal.found for goal in goals if goal.what == "20 levels x 12 levels: error of the function") < 1e-3
    assert "20 levels x a number: ours, of the data, s" in out
