"""Names of subspaces are distinct, whatever the variables are called."""

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeRegressor

from fasthdmr import TreeHDMR
from fasthdmr._support.subspaces import as_variables, names_with_outputs, subspace_names
from fasthdmr.plotting import SensitivityDisplay

pd = pytest.importorskip("pandas")

# Names of few kinds of characters often collide.
NAMES = st.lists(st.text('ab "&[]()01\n', max_size=7), min_size=1, max_size=4)


def subspaces_of(names):
    return list(chain.from_iterable(combinations(range(len(names)), t) for t in range(1, len(names) + 1)))


@given(NAMES)
@example(["a", "b", "a & b"])
@example(["a", "b", '"a" & "b"', "a & b"])
@example(["a", "& b", "a &", "b"])
@example(["a", "a &", "&", "& a"])
@example(["a", "a", "a (0)", "a (1)"])
@example(["", "", " & "])
def test_names_are_distinct(names):
    found = subspace_names(subspaces_of(names), names)
    assert len(set(found)) == len(found)
    # One at a time, they have the same names as in a table.
    assert [subspace_names([u], names)[0] for u in subspaces_of(names)] == found


@given(NAMES, st.lists(st.text('ab"[]', max_size=4), min_size=2, max_size=3))
@example(["a", "a[b]"], ["c", "b][c"])
@example(["a", 'a["b'], ['b"', 'b"]["b'])
def test_columns_of_several_outputs_have_distinct_names(names, outputs):
    found = names_with_outputs(subspace_names(subspaces_of(names), names), outputs)
    assert len(set(found)) == len(found)


def test_a_single_variable_is_called_as_in_the_data():
    assert subspace_names([(0,), (1,), (0, 1)], ["a & b", 'a "c"']) == ["a & b", 'a "c"', '"a & b" & "a ""c"""']


def test_names_are_the_same_everywhere():
    """The names of a result with a variable that is called like an interaction."""
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(300, 3)), columns=["a", "b", "a & b"])
    y = frame["a"] * frame["b"] + frame["a & b"]
    model = DecisionTreeRegressor(max_depth=4, random_state=0)
    hdmr = TreeHDMR(model, smooth=False).fit(frame, y)
    names = dict(zip(hdmr.subspaces_, hdmr.get_feature_names_out(), strict=True))
    assert names[2,] == "a & b" and names[0, 1] == '"a" & "b"'
    assert hdmr.sensitivity_.names == list(names.values())
    assert hdmr.sensitivity_.to_frame()["names"].tolist() == list(names.values())
    assert {u: name for u, name, *_ in hdmr.sensitivity_.level_set("P")}.items() <= names.items()
    assert {name for _, name, *_ in hdmr.sensitivity_.level_set("T")} <= set(frame.columns)
    explanation = hdmr.explain(frame.iloc[0])
    assert dict(zip(explanation.subspaces, explanation.names, strict=True)) == names
    assert repr(hdmr.component((0, 1))).startswith('Component of "a" & "b"\n')
    assert repr(hdmr.component(("b", "a"))).startswith('Component of "b" & "a"\n')
    bars = SensitivityDisplay.from_estimator(hdmr).axes_[0]
    assert {label.get_text() for label in bars.get_yticklabels()} == set(names.values())
    printed = str(hdmr.sensitivity_).splitlines()[2 : 2 + len(names)]
    for line, (u, name) in zip(printed, names.items(), strict=True):
        assert line.startswith(f"{u!s:8}  {name}  ")


def test_a_variable_without_a_component_counts():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(300, 3)), columns=["a", "b", "a & b"])
    hdmr = TreeHDMR(DecisionTreeRegressor(max_depth=4, random_state=0), smooth=False)
    hdmr.fit(frame.assign(**{"a & b": 0.0}), frame["a"] * frame["b"])
    assert hdmr.subspaces_ == [(0,), (1,), (0, 1)]
    assert '"a" & "b"' in hdmr.sensitivity_.names and '"a" & "b"' in hdmr.explain(frame.iloc[0]).names


def test_a_variable_is_named_once():
    assert as_variables(["b", 0], ["a", "b"]) == (1, 0)
    with pytest.raises(ValueError, match="subspace names a variable twice"):
        as_variables([0, "a"], ["a", "b"])
