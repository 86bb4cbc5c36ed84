import io
import pickle
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from tolerance import assert_close

from fasthdmr._results.level_sets import holds_zero
from fasthdmr._results.sensitivity import Sensitivity
from fasthdmr._support.indices import INDICES

NAMES = ["age", "income", "rooms"]
SUBSPACES = [(0,), (1,), (0, 1), (0, 2), (0, 1, 2)]
SA = [0.5, 0.25, 0.125, 0.25, 0.0625]
S = [0.375, 0.25, 0.25, -0.125, 0.0625]


def one_output():
    return Sensitivity(SUBSPACES, SA, S, residual=0.1875, variance=4.0, feature_names=NAMES)


def two_outputs():
    return Sensitivity(
        SUBSPACES,
        np.column_stack([SA, np.zeros(5)]),
        np.column_stack([S, [0.0, 0.0, 0.0, 0.0, 0.5]]),
        residual=[0.1875, 0.5],
        variance=[4.0, 1.0],
        feature_names=NAMES,
        output_names=["low", "high"],
    )


def test_definitions():
    indices = one_output()
    assert_close(indices.Sb, [-0.125, 0.0, 0.125, -0.375, 0.0])
    assert_close(indices.ST, [0.375 + 0.25 - 0.125 + 0.0625, 0.25 + 0.25 + 0.0625, -0.125 + 0.0625])
    assert_close(indices.R, indices.ST / indices.ST.sum())
    assert indices.names == ["age", "income", "age & income", "age & rooms", "age & income & rooms"]
    assert indices.residual == 0.1875 and indices.variance == 4.0


def test_several_outputs_are_the_outputs_side_by_side():
    both, first = two_outputs(), one_output()
    assert both.Sb.shape == (5, 2) and both.ST.shape == both.R.shape == (3, 2)
    for name in ("Sa", "Sb", "S", "ST", "R"):
        assert_close(getattr(both, name)[:, 0], getattr(first, name))
    assert_close(both.ST[:, 1], [0.5, 0.5, 0.5])
    assert_close(both.explained()[:, 1], [0.0, 0.0, 0.5])


def test_constant_output_has_relative_importances_of_zero():
    indices = Sensitivity([(0,), (0, 1)], [0, 0], [0, 0], 0.0, 0.0, ["a", "b"])
    np.testing.assert_array_equal(indices.R, [0, 0])
    assert indices.order_for(0.9) == 1


def test_explained_adds_up_the_orders():
    assert_close(one_output().explained(), [0.625, 0.75, 0.8125])


def test_orders_without_components_repeat_the_sum():
    indices = Sensitivity([(0,), (0, 1, 2)], [0.5, 0.5], [0.5, 0.5], 0.0, 1.0, NAMES)
    assert_close(indices.explained(), [0.5, 0.5, 1.0])


@pytest.mark.filterwarnings("ignore:The components of order 1 to:fasthdmr.ResidualWarning")  # 0.81, 0.5 and less
@pytest.mark.parametrize(("fraction", "order"), [(0.1, 1), (0.76, 1), (0.78, 2), (0.93, 3), (1.0, 3)])
def test_order_for(fraction, order):
    assert one_output().order_for(fraction) == order
    assert two_outputs().order_for(fraction, output="low") == order
    assert two_outputs().order_for(fraction, output=1) == 3


@pytest.mark.filterwarnings("ignore:The components of order 1 to:fasthdmr.ResidualWarning")  # 0.81, 0.5 and less
def test_order_for_a_sum_that_is_negative_is_the_largest():
    indices = Sensitivity([(0,), (0, 1)], [0.5, 0.5], [-0.75, -0.25], 2.0, 1.0, ["a", "b"])
    assert indices.order_for(0.5) == 2


def test_no_components_at_all():
    indices = Sensitivity([], np.empty(0), np.empty(0), 1.0, 2.0, ["a", "b"])
    assert indices.explained().shape == (0,)
    assert indices.order_for(0.9) == 0
    np.testing.assert_array_equal(indices.ST, [0, 0])
    assert len(indices.level_set("P", 0.0)) == 0
    assert len(indices.to_frame()) == 0
    assert "Residual" in str(indices)


def test_level_sets_of_subspaces():
    indices = one_output()
    assert [row[0] for row in indices.level_set("I", 0.25)] == [(0,), (1,)]
    assert [row[0] for row in indices.level_set("I", 0.3)] == [(0,)]
    assert [row[0] for row in indices.level_set("X", 0.0)] == [(0, 1), (0, 1, 2)]
    table = indices.level_set("P", 0.25)
    assert table.columns == ("subspace", "names", "order", "Sa", "Sb", "S")
    assert table.rows == (
        ((0,), "age", 1, 0.5, -0.125, 0.375),
        ((1,), "income", 1, 0.25, 0.0, 0.25),
        ((0, 1), "age & income", 2, 0.125, 0.125, 0.25),
    )
    assert len(indices.level_set("P", 2.0)) == 0


def test_level_sets_of_variables():
    indices = one_output()
    table = indices.level_set("T", 0.0)
    assert table.columns == ("variable", "name", "ST", "R")
    assert [row[:3] for row in table] == [(0, "age", 0.5625), (1, "income", 0.5625)]
    share = 0.5625 / 1.0625
    assert [row[1] for row in indices.level_set("R", share)] == ["age", "income"]
    assert len(indices.level_set("R", share + 1e-9)) == 0


def test_level_sets_of_one_of_several_outputs():
    both = two_outputs()
    assert both.level_set("P", 0.1, output="high").rows == (((0, 1, 2), "age & income & rooms", 3, 0.0, 0.5, 0.5),)
    assert both.level_set("P", 0.1, output=0).rows == one_output().level_set("P", 0.1).rows


@pytest.mark.parametrize("eps", [-0.1, np.nan, np.inf, "0.1", None])
def test_invalid_eps(eps):
    with pytest.raises(ValueError, match=r"'eps' parameter must be a float in the range \[0.0, inf\)"):
        one_output().level_set("P", eps)


@pytest.mark.parametrize("kind", ["p", "S", "", None])
def test_invalid_kind(kind):
    with pytest.raises(ValueError, match="'kind' parameter must be a str among"):
        one_output().level_set(kind, 0.1)


@pytest.mark.parametrize("fraction", [0, -1, 1.01, np.nan, "a"])
def test_invalid_fraction(fraction):
    with pytest.raises(ValueError, match="'fraction' parameter must be a float in the range"):
        one_output().order_for(fraction)


@pytest.mark.parametrize("output", [None, 2, -1, "middle"])
def test_invalid_output(output):
    with pytest.raises(ValueError, match=r"output must be one of \[0, 1, 'low', 'high'\]"):
        two_outputs().level_set("P", 0.1, output=output)
    with pytest.raises(ValueError, match="output must be one of"):
        two_outputs().order_for(0.9, output=output)


def test_shapes_that_do_not_agree():
    with pytest.raises(ValueError, match="a row for each of the 2 subspaces"):
        Sensitivity([(0,), (1,)], [0.5], [0.5], 0.0, 1.0, NAMES)
    with pytest.raises(ValueError, match=r"residual must have shape \(\)"):
        Sensitivity([(0,)], [0.5], [0.5], [0.0, 1.0], 1.0, NAMES)
    with pytest.raises(ValueError, match="Expected 1 output names, got 2"):
        Sensitivity([(0,)], [0.5], [0.5], 0.0, 1.0, NAMES, ["a", "b"])


def test_frame():
    frame = one_output().to_frame()
    assert list(frame.columns) == ["subspace", "names", "order", "Sa", "Sb", "S", "ST", "R"]
    assert frame["subspace"].tolist() == [" & ".join(map(str, u)) for u in SUBSPACES]
    assert "(" not in frame.to_csv()
    assert frame["order"].tolist() == [1, 1, 2, 2, 3]
    assert_close(frame["S"], S)
    assert_close(frame["ST"][:2], [0.5625, 0.5625])
    assert frame[["ST", "R"]][2:].isna().to_numpy().all()


def test_frame_of_several_outputs():
    frame = two_outputs().to_frame()
    assert frame["output"].tolist() == ["low"] * 5 + ["high"] * 5
    assert_close(frame["S"][5:], [0, 0, 0, 0, 0.5])


def test_frame_of_a_level_set():
    frame = one_output().level_set("X", 0.0).to_frame()
    assert list(frame.columns) == ["subspace", "names", "order", "Sa", "Sb", "S"]
    assert frame["names"].tolist() == ["age & income", "age & income & rooms"]
    assert frame["subspace"].tolist() == ["0 & 1", "0 & 1 & 2"]


def test_printed_table_has_a_row_for_every_subspace():
    lines = str(one_output()).splitlines()
    assert lines[0].split() == ["Subspace", "Variables", "Sa", "Sb", "S", "ST", "R"]
    assert lines[2].split() == ["(0,)", "age", "0.5000", "-0.1250", "0.3750", "0.5625", "0.5294"]
    assert lines[4].split() == ["(0,", "1)", "age", "&", "income", "0.1250", "0.1250", "0.2500", "-", "-"]
    assert lines[-2].split() == ["Sum", "1.1875", "-0.3750", "0.8125", "1.0625", "1.0000"]
    assert lines[-1].split() == ["Residual", "-", "-", "0.1875", "-", "-"]


def test_printed_table_names_the_outputs():
    text = str(two_outputs())
    assert text.startswith("Output low\nSubspace") and "\n\nOutput high\n" in text


def test_printed_table_is_cut_to_the_strongest():
    n = 60
    values = np.linspace(1, 2, n) / 100
    text = str(Sensitivity([(i,) for i in range(n)], values, values, 0.0, 1.0, [f"x{i}" for i in range(n)]))
    assert "x59" in text and "x19" not in text
    assert text.endswith("(20 weaker subspaces not shown, included in the sums)")
    assert f"{values.sum():.4f}" in text


def test_arguments_are_neither_aliased_nor_changed():
    values, names = np.array(S), list(NAMES)
    indices = Sensitivity(SUBSPACES, values, values, 0.0, 1.0, names)
    values[:] = 7
    names.append("other")
    assert_close(indices.S, S)
    indices.to_frame()
    assert str(indices) == str(indices) and indices.feature_names == tuple(NAMES)


def test_frozen_and_picklable():
    indices = two_outputs()
    with pytest.raises(AttributeError):
        indices.S = indices.Sa
    copy = pickle.loads(pickle.dumps(indices))
    np.testing.assert_array_equal(copy.S, indices.S)
    assert str(copy) == str(indices)


def with_intervals(*, shape=()):
    """Indices with half-widths: the intervals of S of (0,) and of ST of age do not hold 0, all others do."""
    widths = [np.full(5, 0.01), np.full(5, 0.02), [0.3, 0.25, 0.26, 0.2, 0.07], [0.5, 0.6, 0.2], [0.1, 0.03, 0.04]]
    conf = {name: np.multiply.outer(width, np.ones(shape)) for name, width in zip(INDICES, widths, strict=True)}
    indices = one_output() if shape == () else two_outputs()
    return Sensitivity(
        SUBSPACES,
        indices.Sa,
        indices.S,
        indices.residual,
        indices.variance,
        NAMES,
        indices.output_names,
        uncertainty=SimpleNamespace(half_widths=conf),
    )


def test_level_sets_print_intervals_and_mark_those_with_zero():
    by_S = str(with_intervals().level_set("P", 0.1))
    assert by_S.splitlines() == [
        "subspace  names         order              Sa               Sb               S",
        "---------------------------------------------------------------------------------",
        "(0,)      age               1  0.5000 ±0.0100  -0.1250 ±0.0200  0.3750 ±0.3000",
        "(1,)      income            1  0.2500 ±0.0100   0.0000 ±0.0200  0.2500 ±0.2500  ?",
        "(0, 1)    age & income      2  0.1250 ±0.0100   0.1250 ±0.0200  0.2500 ±0.2600  ?",
        "(±: 95 % interval, given the model. ?: the interval of S contains 0.)",
    ]
    assert str(with_intervals().level_set("T", 0.1)).splitlines() == [
        "variable  name                ST               R",
        "---------------------------------------------------",
        "       0  age     0.5625 ±0.5000  0.5294 ±0.1000",
        "       1  income  0.5625 ±0.6000  0.5294 ±0.0300  ?",
        "(±: 95 % interval, given the model. ?: the interval of ST contains 0.)",
    ]
    by_R = str(with_intervals().level_set("R"))
    assert "0.5625 ±0.6000  0.5294 ±0.0300" in by_R and "?" not in by_R and "(±" not in by_R


def test_intervals_of_negative_indices():
    assert holds_zero(np.array([-0.5, -0.1, 0.1, 0.5]), 0.2).tolist() == [False, True, True, False]


@pytest.mark.parametrize("kind", ["T", "R", "I", "X", "P"])
def test_level_sets_hold_the_same_with_intervals_and_without(kind):
    plain, table = one_output().level_set(kind), with_intervals().level_set(kind)
    assert (table.columns, table.rows, list(table)) == (plain.columns, plain.rows, list(plain))
    assert "±" in str(table) and "±" not in str(plain) and "?" not in str(plain)
    assert str(pickle.loads(pickle.dumps(table))) == str(table)
    assert table.to_frame().equals(plain.to_frame())
    nothing = with_intervals().level_set(kind, 2.0)
    assert str(nothing) == str(one_output().level_set(kind, 2.0))


def test_level_sets_print_the_intervals_of_their_output():
    both = with_intervals(shape=(2,))
    both.uncertainty.half_widths["S"][4, 1] = 0.875
    assert "0.5000 ±0.8750  ?" in str(both.level_set("X", 0.1, output="high"))


def test_level_sets_where_standard_output_lacks_the_sign(monkeypatch):
    table = with_intervals().level_set("P")
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    text = str(table)
    assert text.isascii() and "0.5000+-0.0100" in text and "\n(+-: 95 % interval" in text


def test_level_sets_note_the_bias_of_small_indices():
    conf = {name: np.full(1, 0.001) for name in INDICES}
    remarks = "(±: 95 % interval, given the model. Indices below 0.02 are biased upwards, which ± includes.)"
    for Sa, is_small in [(0.0195, True), (0.0205, False)]:
        indices = Sensitivity([(0,)], [Sa], [Sa], 0.0, 1.0, ["a"], uncertainty=SimpleNamespace(half_widths=conf))
        for kind in "PT":
            assert (str(indices.level_set(kind)).splitlines()[-1] == remarks) == is_small


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
def test_every_index_of_the_table_has_an_attribute_and_half_widths(index):
    indices = with_intervals(shape=(2,))
    count = len(SUBSPACES) if index.of == "subspace" else len(NAMES)
    assert getattr(indices, index.name).shape == getattr(indices, f"{index.name}_conf").shape == (count, 2)
    assert {index.name, f"{index.name}_conf"} <= set(indices.to_frame())


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
def test_changes_of_indices_are_those_of_their_formulas(index):
    rng = np.random.default_rng(0)
    count = 2 if index.of == "subspace" else 1
    values, changes = rng.uniform(0.5, 1, size=(count, 4)), rng.normal(size=(count, 4))
    step = 1e-6
    after, before = (index.formula(*(values + sign * step * changes)) for sign in (1, -1))
    assert_close(index.change(tuple(values), tuple(changes)), (after - before) / (2 * step), 1e-8, reason="differences")
