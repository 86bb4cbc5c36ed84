"""Sparse rows: absent entries have the value that they have in the predictions of the model's own library."""

import warnings

import numpy as np
import pytest
from boosters import library
from scipy import sparse
from sklearn.ensemble import (
    BaggingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
    VotingRegressor,
)
from sklearn.multioutput import MultiOutputRegressor
from tolerance import assert_close

from fasthdmr import TreeHDMR, load_forest
from fasthdmr._forest import sparse as module
from fasthdmr.inspection import partial_dependence

pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.FastHDMRWarning")

RNG = np.random.default_rng(0)
FULL = RNG.choice([-1.0, 0.0, 1.0, np.nan], size=(300, 3))
NUMBERS = np.nan_to_num(FULL, nan=2.0)
Y = np.nan_to_num(FULL, nan=7.0) @ [1, 10, 100] + np.nan_to_num(FULL[:, 0] * FULL[:, 1], nan=3.0)
FORMATS = ("csr_matrix", "csr_array", "csc_matrix", "csc_array", "coo_matrix", "coo_array")


def some_stored(rows):
    """Sparse rows in which some zeros are stored and others are absent."""
    row, column = (place.ravel() for place in np.indices(rows.shape))
    kept = (rows.ravel() != 0) | (row % 3 == 0)
    return sparse.csr_matrix((rows.ravel()[kept], (row[kept], column[kept])), shape=rows.shape)


def xgboost_model(**options):
    return library("xgboost").XGBRegressor(n_estimators=20, max_depth=5, n_jobs=1, **options)


def lightgbm_model(**options):
    few = {"min_child_samples": 2, "verbose": -1, "n_jobs": 1}
    return library("lightgbm").LGBMRegressor(n_estimators=20, **few, **options)


def catboost_model():
    return library("catboost").CatBoostRegressor(n_estimators=20, verbose=0, allow_writing_files=False, thread_count=1)


# Unfitted models, and whether they are fitted to rows with missing values.
MODELS = {
    "xgboost": (xgboost_model, True),
    "xgboost missing=1": (lambda: xgboost_model(missing=1.0), True),
    "xgboost of two targets": (lambda: MultiOutputRegressor(xgboost_model()), True),
    "LightGBM": (lightgbm_model, True),
    "LightGBM zero_as_missing": (lambda: lightgbm_model(zero_as_missing=True), True),
    "LightGBM use_missing=False": (lambda: lightgbm_model(use_missing=False), True),
    "CatBoost": (catboost_model, True),
    "gradient boosting": (lambda: GradientBoostingRegressor(n_estimators=20, random_state=0), False),
    "classifier": (lambda: GradientBoostingClassifier(n_estimators=5, random_state=0), False),
    "forest": (lambda: RandomForestRegressor(5, random_state=0), False),
    "bagging": (lambda: BaggingRegressor(GradientBoostingRegressor(n_estimators=9), 3, random_state=0), False),
}
every_model = pytest.mark.parametrize("name", MODELS)


def fitted(name):
    make, with_missing = MODELS[name]
    rows = FULL if with_missing else NUMBERS
    y = Y > 3 if name == "classifier" else np.column_stack([Y, -Y]) if "two targets" in name else Y
    return make().fit(rows, y), some_stored(np.where(rows == 2, 0, rows))


@every_model
@pytest.mark.parametrize("kind", FORMATS)
def test_predictions_are_those_of_the_library(name, kind):
    model, rows = fitted(name)
    rows = getattr(sparse, kind)(rows)
    own = sparse.csr_matrix(rows) if name == "CatBoost" else rows  # CatBoost takes no sparse arrays
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # LightGBM and CatBoost warn about formats and names
        predicted = model.decision_function(own) if name == "classifier" else model.predict(own)
    forest = load_forest(model)
    tolerance = 1e-5 if "xgboost" in name else 1e-12
    assert_close(forest.predict(rows), predicted, tolerance, reason="xgboost sums in float32")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("options", [{}, {"zero_as_missing": True}, {"use_missing": False}])
def test_numbers_that_lightgbm_reads_as_zero(options, dtype):
    """It does not read them so in CSR matrices: -1e-35 then goes left at a threshold of -1e-35."""
    least = np.float32(1e-35).astype(float)
    values = np.array([-1, -0.0, 0, np.nan, *(sign * least * f for sign in (-1, 1) for f in (0.5, 1, 2))])
    values = np.concatenate([values, np.nextafter([-least, -least, least, least], [-1, 0, 0, 1])]).astype(dtype)
    rows = np.random.default_rng(0).choice(values, size=(600, 2))
    model = lightgbm_model(min_data_in_bin=1, **options).fit(rows, (rows > 0) @ [1, 2] + (rows < 0) @ [4, 8])
    probe = np.array([(a, b) for a in values for b in values])
    row, column = (place.ravel() for place in np.indices(probe.shape))
    stored = sparse.csr_matrix((probe.ravel(), (row, column)), shape=probe.shape)
    forest, dense = load_forest(model), model.booster_.predict(probe)  # the model itself may warn about names
    assert_close(forest.predict(probe), dense)
    for kind in FORMATS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            predicted = model.predict(getattr(sparse, kind)(stored))
        assert_close(forest.predict(getattr(sparse, kind)(stored)), predicted)
    if not options and dtype == np.float64:
        assert (model.booster_.predict(stored) != dense).any()
    with pytest.raises(ValueError, match="X has 1 features"):
        forest.predict(stored[:, :1])


@every_model
def test_tree_hdmr(name):
    model, rows = fitted(name)
    forest = load_forest(model)
    dense = np.where(rows.toarray() == 0, forest.absent, rows.toarray())
    dense[::3] = rows.toarray()[::3]
    fit = TreeHDMR(model).fit(rows)
    for at in (rows, sparse.csc_array(rows)):
        assert np.array_equal(fit.transform(at), TreeHDMR(model).fit(dense).transform(dense))
        assert_close(fit.predict(at) + fit.residual(at), forest.predict(dense), rtol=1e-9)
    assert fit.explain(rows[1], output=0).output == fit.explain(dense[1], output=0).output


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # of LightGBM before 4.7, which gives names
@every_model
@pytest.mark.parametrize("kind", ["marginal", "conditional"])
def test_partial_dependence(name, kind):
    model, rows = fitted(name)
    dense = np.where(rows.toarray() == 0, load_forest(model).absent, rows.toarray())
    dense[::3] = rows.toarray()[::3]
    found, expected = (partial_dependence(model, at, [0, 1], kind=kind) for at in (sparse.csc_array(rows), dense))
    assert np.array_equal(found.average, expected.average)
    assert all(map(np.array_equal, found.grid_values, expected.grid_values))


@pytest.mark.parametrize("by", ["tree", "node"])
def test_blocks_of_rows(by, monkeypatch):
    model, rows = fitted("gradient boosting")
    forest = load_forest(model)
    whole = forest.group_features(rows, by=by)
    monkeypatch.setattr(module, "BLOCK_BYTES", 8 * 3 * 7)
    found = forest.group_features(rows, by=by)
    assert np.array_equal(found, whole) and found.flags.f_contiguous
    assert np.array_equal(forest.predict(rows), forest.predict(rows.toarray()))


def test_entries_that_are_stored_twice_are_added():
    twice = sparse.csr_array(([1.0, 0.5, 0.5], [0, 2, 2], [0, 3]), shape=(1, 3))
    forest = load_forest(fitted("gradient boosting")[0])
    assert forest.predict(twice) == forest.predict([[1.0, 0.0, 1.0]]) != forest.predict([[1.0, 0.0, 0.5]])
    assert twice.nnz == 3  # the input is not changed


def test_models_and_calls_that_refuse_sparse_rows():
    _, rows = fitted("gradient boosting")
    own = HistGradientBoostingRegressor(max_iter=3).fit(NUMBERS, Y)
    words = r"dense data is required: this model does not take it. Use '.toarray\(\)'.* of 7.2e-06 GB"
    for refuses in (
        own.predict,
        load_forest(own).predict,
        TreeHDMR(own).fit,
        lambda X: partial_dependence(own, X, 0),
    ):
        with pytest.raises(TypeError, match=words if refuses != own.predict else "Sparse data was passed"):
            refuses(rows)
    with pytest.raises(ValueError, match="X must be numeric, but it is a sparse matrix of type complex128"):
        load_forest(fitted("gradient boosting")[0]).predict(rows.astype(complex))
    with pytest.raises(TypeError, match="models that are not fitted get dense rows"):
        TreeHDMR(GradientBoostingRegressor()).fit(rows, Y)
    with pytest.raises(ValueError, match="Expected 2D array, got 1D sparse array"):
        load_forest(fitted("gradient boosting")[0]).predict(sparse.coo_array([1.0, 0.0, 2.0]))


def test_models_of_two_libraries():
    model, rows = fitted("xgboost")
    other, _ = fitted("forest")
    with pytest.raises(TypeError, match="models read absent entries in different ways"):
        TreeHDMR([model, other], combine="sum").fit(rows)
    voting = VotingRegressor([("a", xgboost_model()), ("b", RandomForestRegressor(3))]).fit(NUMBERS, Y)
    with pytest.raises(TypeError, match="this model does not take it"):
        load_forest(voting).predict(rows)
