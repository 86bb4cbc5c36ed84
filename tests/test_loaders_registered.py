"""Registered readers: found by the name of the model's class; their arrays are checked."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tolerance import assert_close

import fasthdmr
from fasthdmr.inspection import partial_dependence
from fasthdmr.loaders import Trees, registry

RNG = np.random.default_rng(0)
X = np.column_stack([RNG.choice([-1.0, 0.25, 0.5, np.nan], 100), RNG.integers(-1, 6, 100), RNG.normal(size=100)])


class Model:
    """Two trees on two variables, the second with categories; `changes` replace fields of its `Trees`."""

    def __init__(self, **changes):
        self.changes = changes

    def predict(self, X):
        first = np.where(np.isnan(X[:, 0]) | (X[:, 0] <= 0.25), 1.0, np.where(np.isin(X[:, 1], [1, 3, 4]), 2.0, 4.0))
        return 10 + first + np.where(X[:, 0] <= 0.5, 0.5, -0.5)


class Child(Model):
    pass


FIELDS = {
    "n_features": 3,
    "tree_offsets": [0, 5, 8],
    "left": [1, -1, 3, -1, -1, 1, -1, -1],
    "right": [2, -1, 4, -1, -1, 2, -1, -1],
    "feature": [0, 0, 1, 0, 0, 0, 0, 0],
    "threshold": [0.25, 0, 0, 0, 0, 0.5, 0, 0],
    "missing_left": [1, 0, 0, 0, 0, 0, 0, 0],
    "value": np.array([[0], [1], [0], [2], [4], [0], [0.5], [-0.5]]),
    "tree_output": [0, 0],
    "offset": [10],
    "weight": [1] * 8,
    "allow_nan": True,
    "category_set": [-1, -1, 0, -1, -1, -1, -1, -1],
    "set_offsets": [0, 2],
    "set_intervals": [[1, 1], [3, 4]],
}


def read_model(model):
    return Trees(**FIELDS | model.changes)


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})
    fasthdmr.register_loader(f"{__name__}.Model", read_model)


@pytest.mark.parametrize("float64", [False, True])
@pytest.mark.parametrize("cls", [Model, Child])
def test_models_of_the_class_and_of_subclasses_are_read(cls, float64):
    model = cls(float64=float64)
    assert_close(fasthdmr.load_forest(model).predict(X), model.predict(X))
    fit = fasthdmr.TreeHDMR(model, measure="product").fit(X)
    assert_close(fit.predict(X) + fit.residual(X), model.predict(X))
    rows = np.nan_to_num(X)
    found = partial_dependence(model, rows, [1])
    at = [np.column_stack([rows[:, 0], np.full(100, x), rows[:, 2]]) for x in found["grid_values"][0]]
    assert_close(found["average"][0], [model.predict(changed).mean() for changed in at])


def test_ends_of_sets_are_compared_in_float32():
    intervals = np.array([[3, 4], [1, 1], [-0.1, 0.1], [0.05, 0.2]])
    model = Model(float64=False, set_offsets=[0, 4], set_intervals=intervals)
    ends = np.float32(intervals).ravel()
    middles = [(np.nextafter(ends, np.float32(to)).astype(float) + ends) / 2 for to in (-np.inf, np.inf)]
    x = np.concatenate([ends, *(np.nextafter(middle, to) for middle in middles for to in (-np.inf, np.inf)), *middles])
    rounded = x.astype(np.float32)[:, None]
    inside = ((ends[::2] <= rounded) & (rounded <= ends[1::2])).any(axis=1)
    rows = np.column_stack([np.ones(len(x)), x, np.zeros(len(x))])
    assert_close(fasthdmr.load_forest(model).predict(rows), 9.5 + np.where(inside, 2.0, 4.0))


def test_the_reader_of_the_nearest_class_that_was_registered_last():
    fasthdmr.register_loader("test_loaders_registered._private.Child", lambda _: Trees(**FIELDS | {"offset": [11]}))
    assert_close(fasthdmr.load_forest(Child()).predict(X), Model().predict(X) + 1)
    assert_close(fasthdmr.load_forest(Model()).predict(X), Model().predict(X))
    fasthdmr.register_loader("test_loaders_registered.Child", read_model)
    assert_close(fasthdmr.load_forest(Child()).predict(X), Model().predict(X))


def test_invalid_names_and_readers_are_refused():
    for name, reader, words in [(Model, read_model, "name must be a str"), ("a.B", None, "reader must be a function")]:
        with pytest.raises(TypeError, match=words):
            fasthdmr.register_loader(name, reader)
    with pytest.raises(ValueError, match="name must be that of a class"):
        fasthdmr.register_loader("", read_model)
    fasthdmr.register_loader(f"{__name__}.Model", lambda model: model.predict)
    with pytest.raises(TypeError, match=r"reader of test_loaders_registered.Model must return fasthdmr.loaders.Trees"):
        fasthdmr.load_forest(Model())


def with_entry(field, index, value):
    changed = np.array(FIELDS[field], dtype=object)
    changed[index] = value
    return {field: changed.tolist()}


WRONG = [
    (with_entry("left", 0, 7), "tree 0, node 0: not a tree: its child 7 is out of range"),
    (with_entry("right", 2, -5), "tree 0, node 2: not a tree: its child -5 is out of range"),
    (with_entry("left", 2, 0), "node 2: not a tree: its child 0 is out of range"),  # a cycle
    (with_entry("left", 2, 2), "node 2: not a tree: its child 2 has another parent"),
    (with_entry("left", 0, -1), "node 0: not a tree: its child -1 is out of range"),
    (with_entry("left", 5, -1) | with_entry("right", 5, -1), None),
    ({"left": [1, -1, -1, 4, 3, 1, -1, -1], "right": [2, -1, -1, 4, 3, 2, -1, -1]}, "nodes that no path from the root"),
    (with_entry("left", 0, 0.5), r"left must hold integers, got 0.5"),
    (with_entry("left", 0, np.nan), r"left must hold integers, got nan"),
    (with_entry("left", 0, 2**63), r"left must hold integers"),
    (with_entry("left", 0, "a"), r"left must hold integers, got values of type <U"),
    (with_entry("feature", 2, 3), "feature must be from 0 to 2, got 3"),
    (with_entry("feature", 0, -1), "feature must be from 0 to 2, got -1"),
    (with_entry("threshold", 0, np.nan), "threshold must be numbers, got nan"),
    (with_entry("missing_left", 0, 2), "missing_left must be 0 or 1, got 2"),
    (with_entry("missing_left", 0, -1), "missing_left must hold integers from 0 to 255, got -1"),
    (with_entry("value", (3, 0), np.inf), "Leaf values must be finite, got inf in tree 0"),
    ({"value": np.zeros(8)}, r"value must have shape \(8, 1\), got \(8,\)"),
    ({"value": np.zeros((8, 2))}, r"value must have shape \(8, 1\), got \(8, 2\)"),
    ({"weight": [1] * 7}, r"weight must have shape \(8,\), got \(7,\)"),
    ({"tree_offsets": []}, r"tree_offsets must have shape \(1,\), got \(0,\)"),
    ({"tree_offsets": [0, 5, 9]}, "tree offsets must span the nodes"),
    ({"tree_offsets": [0, 8, 8]}, "tree 1: no nodes"),
    ({"tree_offsets": [0, 9, 8]}, "no nodes"),
    ({"tree_output": [0, 1]}, "tree 1: no such output: 1"),
    ({"tree_output": [0]}, r"tree_output must have shape \(2,\)"),
    ({"offset": [np.nan]}, "offset must be finite, got nan"),
    ({"offset": 10.0}, r"offset must have shape \(1,\), got \(\)"),
    ({"n_features": 0, "category_set": None, "set_offsets": None, "set_intervals": None}, "feature must be from"),
    ({"feature_names": ("a", "b")}, "feature_names must be 3 texts, got 2"),
    ({"replaced": np.zeros((2, 3))}, r"replaced must have shape \(3, 3\)"),
    ({"replaced": np.full((3, 3), np.nan)}, "replaced must have numbers from and to, got nan"),
    (with_entry("category_set", 2, 1), "category_set must be from 0 to 0 or -1, got 1"),
    (with_entry("category_set", 2, -2), "category_set must be from 0 to 0 or -1, got -2"),
    ({"set_offsets": None}, "category_set, set_offsets and set_intervals must be given together"),
    ({"set_offsets": []}, r"set_offsets must have shape \(1,\)"),
    ({"set_offsets": [0, 3]}, "set_offsets must ascend from 0 to the number of intervals, 2"),
    ({"set_offsets": [0, 4, 2]}, "set_offsets must ascend from 0 to the number of intervals, 2"),
    ({"set_intervals": [[1, 1], [4, 3]]}, "set_intervals must ascend from first to last value, got 4"),
    ({"set_intervals": [[1, 1], [3, np.nan]]}, "set_intervals must be finite, got nan"),
    ({"set_intervals": [1, 1, 3, 4]}, r"set_intervals must have shape \(2, 2\), got \(4,\)"),
]


@pytest.mark.parametrize("float64", [False, True])
@pytest.mark.parametrize(("changes", "words"), WRONG)
def test_invalid_arrays_are_refused(changes, words, float64):
    with pytest.raises(ValueError, match=words):
        fasthdmr.load_forest(Model(float64=float64, **changes))


@given(
    st.sampled_from(["tree_offsets", "left", "right", "feature", "tree_output", "category_set", "set_offsets"]),
    st.integers(0, 7),
    st.sampled_from([-(2**63), -2, -1, 0, 1, 2, 3, 7, 8, 2**31, 2**62, 2**63 - 1]),
    st.booleans(),
)
@settings(max_examples=300, deadline=None)
def test_any_wrong_number_is_an_error_or_another_forest(field, index, value, float64):
    changed = list(FIELDS[field])
    changed[index % len(changed)] = value
    try:
        forest = fasthdmr.load_forest(Model(float64=float64, **{field: changed}))
    except ValueError:
        return
    assert np.isfinite(forest.predict(X)).all()
