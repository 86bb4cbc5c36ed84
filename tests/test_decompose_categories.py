"""Categorical columns of a dictionary, against indicator columns made by hand."""

import pickle
import warnings

import numpy as np
import pytest
from tolerance import assert_close

from fasthdmr import RankWarning, UnknownLevelsWarning, decompose

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

N = 300
RNG = np.random.default_rng(3)
CITIES = np.array(["Oslo", "Rome", "Wien", "Røros"])
CITY = CITIES[RNG.choice(4, N, p=[0.4, 0.3, 0.2, 0.1])]
AREA = RNG.normal(size=N) + (CITY == "Rome")
COLUMNS = pd.DataFrame({"area": AREA, "city": CITY, "slope in": np.where(AREA > 0, CITY, "none"), "area²": AREA**2})
SUBSPACES = [0, 1, (0, 1), 0]
Y = AREA * (1 + (CITY == "Wien")) + 2 * (CITY == "Rome") + 0.1 * RNG.normal(size=N)
WEIGHTS = RNG.integers(0, 3, size=N).astype(float)


def by_hand(columns=COLUMNS):
    """Indicators of all levels but the first by name, and their subspaces."""
    blocks, labels = [], []
    for j, name in enumerate(COLUMNS):
        block = columns[[name]].to_numpy()
        if name in ("city", "slope in"):
            block = (block == np.unique(COLUMNS[name])[1:]).astype(float)
        blocks.append(block)
        labels += [SUBSPACES[j]] * block.shape[1]
    return np.hstack(blocks).astype(float), labels


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weights"])
@pytest.mark.parametrize("y", [Y, np.column_stack([Y, AREA**2 * (CITY == "Oslo")])], ids=["one", "two"])
def test_the_result_is_that_of_indicators_by_hand(y, weights):
    matrix, labels = by_hand()
    expected = decompose(matrix, labels, y=y, sample_weight=weights)
    found = decompose(COLUMNS, SUBSPACES, y=y, sample_weight=weights)
    assert found.subspaces == expected.subspaces == [(0,), (1,), (0, 1)]
    assert found.rank == expected.rank
    assert_close(found.evaluate(COLUMNS), expected.evaluate(matrix), 1e-12)
    assert_close(found.predict(COLUMNS), expected.predict(matrix), 1e-12)
    assert_close(found.black_box(COLUMNS), expected.black_box(matrix), 1e-12)
    assert_close(found.component((0, 1))(COLUMNS), expected.component((0, 1))(matrix), 1e-12)
    for index in ("S", "Sa", "Sb"):
        assert_close(getattr(found.sensitivity, index), getattr(expected.sensitivity, index), 1e-12)


def test_indicators_of_all_levels_give_the_same_components():
    matrix, labels = by_hand()
    every = np.column_stack([matrix, np.unique(CITY)[0] == CITY])
    with pytest.warns(RankWarning):
        expected = decompose(every, [*labels, 1], y=Y)
    assert_close(decompose(COLUMNS, SUBSPACES, y=Y).evaluate(COLUMNS), expected.evaluate(every), 1e-12)


def test_neither_names_nor_order_of_levels_count():
    expected = decompose(COLUMNS, SUBSPACES, y=Y).evaluate(COLUMNS)
    renamed = COLUMNS.assign(city=COLUMNS["city"].map(lambda name: name[::-1]).astype("category"))
    assert_close(decompose(renamed, SUBSPACES, y=Y).evaluate(renamed), expected, 1e-12)
    for other in (COLUMNS.to_numpy(dtype=object), pl.from_pandas(COLUMNS)):
        assert_close(decompose(other, SUBSPACES, y=Y).evaluate(other), expected, 1e-12)
    codes = COLUMNS.assign(city=np.unique(CITY, return_inverse=True)[1])
    result = decompose(codes, SUBSPACES, y=Y, categorical_features=["city", "slope in"])
    assert_close(result.evaluate(codes), expected, 1e-12)


def test_missing_values_are_a_level():
    missing = COLUMNS.assign(city=COLUMNS["city"].where(CITY != "Wien", None))
    expected = decompose(COLUMNS, SUBSPACES, y=Y).evaluate(COLUMNS)
    assert_close(decompose(missing, SUBSPACES, y=Y).evaluate(missing), expected, 1e-12)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weights"])
@pytest.mark.parametrize("y", [Y, np.column_stack([Y, 2 * Y])], ids=["one", "two"])
def test_unknown_levels_count_as_the_mean(y, weights):
    result = decompose(COLUMNS, SUBSPACES, y=y, sample_weight=weights)
    new = COLUMNS[:3].assign(city="Paris")
    for call in (result.component((1,)), lambda rows: result.evaluate(rows)[:, 1]):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            values = call(new)
        assert [w.category for w in caught] == [UnknownLevelsWarning]
        assert "'Paris' in 'city' (3 rows)" in str(caught[0].message)
        assert_close(values, np.zeros((3, *y.shape[1:])), 1e-12)
    matrix, labels = by_hand()
    exact = decompose(matrix, labels, y=y, sample_weight=weights)
    with pytest.warns(UnknownLevelsWarning):
        area = result.component((0,))(new)
    assert_close(area, exact.component((0,))(matrix[:3]), 1e-12)


def test_a_sample_of_one_level_has_no_effect_of_it():
    with pytest.warns(RankWarning):  # as for a column that is constant
        result = decompose(COLUMNS.assign(city="Oslo"), SUBSPACES, y=Y)
    assert result.subspaces == [(0,), (1,), (0, 1)]
    assert_close(result.component((1,))(COLUMNS.assign(city="Oslo")), np.zeros(N), 1e-12)


def test_booleans_are_indicators_and_take_coefficients():
    frame = pd.get_dummies(COLUMNS["slope in"])[["Oslo", "Rome", "Wien", "Røros"]]
    numbers = decompose(frame.astype(float), [0, 0, (0, 1), 1], coef=[1, 2, 3, 0.5])
    booleans = decompose(frame, [0, 0, (0, 1), 1], coef=[1, 2, 3, 0.5])
    assert_close(booleans.evaluate(frame), numbers.evaluate(frame), 1e-12)


def test_groups_and_pickles():
    names = ["area", "city"]
    result = decompose(COLUMNS, SUBSPACES, y=Y, feature_names=names, feature_groups={"both": names})
    assert result.subspaces == [(0,)]
    again = pickle.loads(pickle.dumps(result))
    assert_close(again.evaluate(COLUMNS), result.evaluate(COLUMNS), 0)


def test_what_is_refused_is_named():
    with pytest.raises(ValueError, match=r"column 'city' is categorical, with 4 levels\. Pass y, or an indicator"):
        decompose(COLUMNS, SUBSPACES, coef=[1, 2, 3, 4], categorical_features=["city", "slope in"])
    with pytest.raises(ValueError, match=r"column 'city' holds text.*With y and"):
        decompose(COLUMNS, SUBSPACES, coef=[1, 2, 3, 4])
    with pytest.raises(ValueError, match=r"The categorical column 1 has the subspace \(\)"):
        decompose(COLUMNS.to_numpy(), [0, (), (0, 1), 0], y=Y)
    with pytest.raises(ValueError, match=r"column 'city' holds text.*categorical_features='from_dtype'"):
        decompose(COLUMNS, SUBSPACES, y=Y, categorical_features=None)
    with pytest.raises(ValueError, match=r"array of shape \(N, 4\), got \(300, 2\)"):
        decompose(COLUMNS, SUBSPACES, y=Y).evaluate(COLUMNS[["area", "city"]].to_numpy())
    with pytest.raises(ValueError, match="feature names should match"):
        decompose(COLUMNS, SUBSPACES, y=Y).evaluate(COLUMNS[["area", "area²", "city", "slope in"]])
