"""Where pairs of variables have rows, and components of pairs elsewhere."""

import pickle

import numpy as np
import pytest
from scipy.ndimage import distance_transform_cdt
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from tolerance import assert_close

from fasthdmr import HDMR, TreeHDMR
from fasthdmr._spans.basis import closure, make_basis
from fasthdmr._spans.nearest_cells import Support, _nearest, _nearest_of_levels, occupied_cells

# Nearly equal variables, and terms of three variables, are chosen on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.ResidualWarning", "ignore::fasthdmr.ConcurvityWarning")


def collinear(n_rows, *, missing=False):
    """Rows of three variables, two of which are nearly the same; and rows with the same margins, but independent."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 3))
    X[:, 1] = X[:, 0] + 0.1 * X[:, 1]
    X[:, 2] = np.exp(2 * X[:, 2])
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X, np.column_stack([rng.permutation(X[:, j]) for j in range(3)])


def times(x):
    return x[:, 0] * x[:, 1]


X, ELSEWHERE = collinear(2000)
Y = X[:, 0] + X[:, 1] ** 2 + np.log(X[:, 2]) * X[:, 0] + 0.5 * X[:, 0] * X[:, 1]
MODEL = GradientBoostingRegressor(n_estimators=100, random_state=0).fit(X, Y)


def support_of(X, weights, basis):
    return Support.from_cells(basis, occupied_cells(X, weights, basis, n_threads=2))


def test_cells_with_rows_stay_and_others_go_to_the_nearest():
    basis = make_basis(X, None, closure([(0, 1, 2)], 2), (8, 6), degree=3)
    support = support_of(X, None, basis)
    assert basis.subspaces.index((0, 1)) in support.nearest
    cells = support._cells
    for s, given in support.nearest.items():
        (i, j), nearest = basis.subspaces[s], given.astype(int)
        count = cells[j].count
        used = np.unique(cells[i].codes(X[:, i]) * count + cells[j].codes(X[:, j]))
        assert np.array_equal(nearest[used], used)
        for cell in range((cells[i].count - 1) * count):
            if cell % count < count - 1:  # no missing values
                apart = np.maximum(abs(used // count - cell // count), abs(used % count - cell % count))
                assert nearest[cell] in used
                assert apart[used == nearest[cell]] == apart.min()


@pytest.mark.parametrize("share", [0.02, 0.3, 0.9])
def test_tables_of_a_stack_do_not_touch(share):
    holds = np.random.default_rng(1).random((20, 9, 7)) < share
    holds[3], holds[4] = False, True
    for table, nearest in zip(holds, _nearest(holds), strict=True):
        expected = np.arange(table.size).reshape(table.shape)
        for block in (np.s_[:-1, :-1], np.s_[:-1, -1:], np.s_[-1:, :-1]):
            if table[block].any():
                found = distance_transform_cdt(~table[block], return_distances=False, return_indices=True)
                expected[block] = expected[block][tuple(found)]
        assert np.array_equal(nearest, expected.ravel())


def test_levels_are_not_near_each_other():
    for holds in np.random.default_rng(2).random((20, 5, 8)) < 0.3:
        expected = np.full(holds.shape, holds.size)  # for none
        for level, present in enumerate(holds):
            used = np.flatnonzero(present[:-1])  # the last cell is that of missing values
            for cell in range(7 if len(used) else 0):  # of two at the same distance, the one before
                expected[level, cell] = 8 * level + used[np.argmin(abs(used - cell))]
            expected[level, -1] = 8 * level + 7 if present[-1] else holds.size
        assert np.array_equal(_nearest_of_levels(holds, True, False), expected.ravel())


def test_rows_without_weight_are_not_in_the_support():
    basis = make_basis(X, None, closure([(0, 1)], 2), (8, 6), degree=3)
    weights = (np.arange(len(X)) % 2).astype(float)
    one, other = support_of(X, weights, basis), support_of(X[1::2], None, basis)
    assert all(np.array_equal(one.nearest[u], other.nearest[u]) for u in {*one.nearest, *other.nearest})


def test_values_are_moved_into_their_cells():
    basis = make_basis(X, None, closure([(0, 1, 2)], 2), (8, 6), degree=3)
    for j, cells in support_of(X, None, basis)._cells.items():
        for target in range(cells.count - 1):
            moved = cells.clip(X[:, j], np.full(len(X), target))
            assert (cells.codes(moved) == target).all()
        assert np.array_equal(cells.clip(X[:, j], cells.codes(X[:, j])), X[:, j])
        assert np.isnan(cells.clip(np.array([np.nan]), np.array([cells.count - 1]))).all()


def test_components_of_pairs_are_bounded_in_regions_without_rows():
    hdmr = TreeHDMR(MODEL).fit(X)
    collinear_pair = hdmr.subspaces_.index((0, 1))
    f = MODEL.predict(ELSEWHERE)

    def largest_and_missed():
        largest = np.abs(hdmr.evaluate(ELSEWHERE)[:, collinear_pair]).max()
        return largest, np.mean((f - hdmr.predict(ELSEWHERE)) ** 2)

    largest, missed = largest_and_missed()
    hdmr.decomposition_.dictionary.support = None
    extrapolated, missed_so = largest_and_missed()
    assert largest < 0.5 * extrapolated
    assert missed < missed_so


@pytest.mark.parametrize("kind", ["trees", "bins", "missing", "two outputs", "function", "data"])
def test_components_add_up_everywhere(kind):
    rows, elsewhere = collinear(1200, missing=kind == "missing")
    y = np.nan_to_num(rows[:, 0]) * np.nan_to_num(rows[:, 1])
    if kind == "two outputs":
        y = np.column_stack([y, np.nan_to_num(rows[:, 2])])
        hdmr = TreeHDMR(RandomForestRegressor(20, max_depth=5, random_state=0).fit(rows, y)).fit(rows)
    elif kind == "function":
        hdmr = HDMR(times).fit(rows)
    elif kind == "data":
        hdmr = HDMR().fit(rows, y)
    else:
        model = RandomForestRegressor(20, max_depth=5, random_state=0).fit(rows, y)
        hdmr = TreeHDMR(model, basis="bins" if kind == "bins" else "spline").fit(rows)
    values = hdmr.decomposition_.evaluate(elsewhere)
    assert_close(hdmr.predict(elsewhere), hdmr.intercept_ + values.sum(axis=1), 1e-9)
    for c, u in enumerate(hdmr.subspaces_):
        assert_close(hdmr.component(u)(elsewhere[:, list(u)]), values[:, c], 1e-9)
    support = hdmr.decomposition_.dictionary.support
    assert support.basis.subspaces.index((0, 1)) in support.nearest
    assert np.array_equal(pickle.loads(pickle.dumps(hdmr)).decomposition_.evaluate(elsewhere), values)
    fitted, moved = hdmr.decomposition_.evaluate(rows), values.copy()
    hdmr.decomposition_.dictionary.support = None
    assert np.array_equal(hdmr.decomposition_.evaluate(rows), fitted)
    plain = hdmr.decomposition_.evaluate(elsewhere)
    changed = [u for c, u in enumerate(hdmr.subspaces_) if not np.array_equal(plain[:, c], moved[:, c])]
    assert changed and all(len(u) == 2 for u in changed)
