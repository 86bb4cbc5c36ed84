"""The command line on columns of text: the levels of models, missing cells, and levels that look like numbers."""

from pathlib import Path

import joblib
import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from boosters import library, xgboost_with_levels
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from test_cli import refused, run
from tolerance import assert_close

import fasthdmr
from fasthdmr import TreeHDMR
from fasthdmr._cli.data_file import read_rows
from fasthdmr.loaders.model_file import load_model

pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.ResidualWarning")

mpl.use("Agg")


def rows(n=400):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "area": rng.normal(size=n),
            "city": rng.choice(["Oslo", "Bergen", "Narvik"], n),
            "zip": rng.choice(["0150", "5003", "8500", "9008"], n),
            "new": rng.random(n) < 0.4,
            "rooms": rng.integers(1, 5, n),
            "floor": rng.integers(-1, 9, n),
        }
    )
    y = X["area"] * (X["city"] == "Oslo") + (X["zip"] == "5003") + X["new"] + 0.5 * X["rooms"]
    X.loc[::17, "city"] = np.nan  # as read from a file; scikit-learn takes None for another category
    return X, y


CATEGORIES = ["city", "zip", "rooms"]


def categories(X, names=CATEGORIES):
    """Categories of text and, between columns of numbers, of numbers."""
    return X.astype(dict.fromkeys(names, "category"))


def with_booleans(X):
    """The same, and booleans, which LightGBM takes for categories."""
    return categories(X, [*CATEGORIES, "new"])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    X, y = rows()
    X.assign(price=y).to_csv(tmp_path / "data.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def save_lightgbm(X, y):
    lightgbm = library("lightgbm")
    model = lightgbm.LGBMRegressor(n_estimators=10, max_depth=3, verbose=-1, min_child_samples=5, n_jobs=1)
    model.fit(with_booleans(X), y).booster_.save_model("model.txt")
    return "model.txt", model.predict(with_booleans(X))


def save_xgboost(X, y):
    model = xgboost_with_levels(n_estimators=10)
    model.fit(categories(X), y).save_model("model.ubj")
    return "model.ubj", model.predict(categories(X))


def save_histogram(X, y):
    model = HistGradientBoostingRegressor(max_iter=40, max_depth=3, min_samples_leaf=5)
    joblib.dump(model.fit(categories(X), y), "model.joblib")
    return "model.joblib", model.predict(categories(X))


SAVED = [save_lightgbm, save_xgboost, save_histogram]


def read(path, target=None):
    forest = fasthdmr.load_forest(load_model(Path(path), trust=True))
    return forest, *read_rows(Path("data.csv"), forest, target)[:2]


@pytest.mark.parametrize("save", SAVED)
def test_models_get_the_levels_of_text(folder, save):
    path, predicted = save(*rows())
    forest, X, y = read(path, "price")
    assert_close(forest.predict(X), predicted, 1e-5, reason="xgboost sums in float32")
    assert_close(y, rows()[1])
    assert X["city"].isna().sum() == rows()[0]["city"].isna().sum() > 0
    assert set(X["zip"]) == {"0150", "5003", "8500", "9008"}  # not numbers, which have no leading zeros


@pytest.mark.parametrize("save", SAVED)
def test_decompose_runs_on_text(folder, capsys, save):
    path, _ = save(*rows())
    status, out, _ = run(capsys, "decompose", path, "data.csv", "--trust", "--target", "price", "--out", "results")
    assert status == 0 and "city" in out and "R² of the components against price" in out
    levels = pd.read_csv("results/levels.csv", dtype=str, keep_default_na=False)
    assert {"Oslo", "Bergen", "Narvik", ""} == set(levels["level"][levels["variable"] == "city"])
    assert levels["level"][levels["variable"] == "zip"].iloc[0] == "5003"  # the largest effect
    shares = levels["share"].astype(float).groupby(levels["variable"]).sum()
    assert_close(shares, np.ones(len(shares)))


@pytest.mark.parametrize("save", [save_lightgbm, save_xgboost])
def test_codes_in_place_of_levels(folder, save):
    X, y = rows()
    path, predicted = save(X, y)
    codes = categories(X) if save is save_xgboost else with_booleans(X)
    for name in codes.select_dtypes("category"):
        codes[name] = codes[name].cat.codes.where(codes[name].notna())
    codes.to_csv("data.csv", index=False)
    assert_close(read(path)[0].predict(read(path)[1]), predicted, 1e-5, reason="xgboost sums in float32")


def test_unseen_levels_are_as_in_the_library(folder, capsys):
    X, y = rows()
    path, _ = save_lightgbm(X, y)
    X.loc[0, "city"] = "Tromsø"
    X.to_csv("data.csv", index=False)
    assert read(path)[1]["city"].isna().sum() == X["city"].isna().sum()
    path, _ = save_xgboost(X.iloc[1:], y[1:])
    assert "'city' holds categories that the model has not seen, such as 'Tromsø'" in refused(
        capsys, "decompose", path, "data.csv"
    )


@pytest.mark.parametrize("save", SAVED)
def test_levels_that_pandas_reads_as_missing(folder, save):
    X, y = rows()
    X["city"] = X["city"].replace("Narvik", "None")
    X["zip"] = X["zip"].replace("9008", "NA")
    path, predicted = save(X, y)
    X.assign(floor=X["floor"].where(X["floor"] > 0)).to_csv("data.csv", index=False, na_rep="NULL")
    found = read(path)[1]
    assert "None" in set(found["city"]) and "NA" in set(found["zip"]) and "NULL" not in set(found["city"])
    assert found["city"].isna().sum() == X["city"].isna().sum()
    X.to_csv("data.csv", index=False)
    forest, found, _ = read(path)
    assert_close(forest.predict(found), predicted, 1e-5, reason="xgboost sums in float32")


def test_columns_of_categories_that_cannot_be_told(folder, capsys):
    X, y = rows()
    path, _ = save_lightgbm(X, y)
    X.assign(floor=X["rooms"]).to_csv("data.csv", index=False)  # both have the levels 1 to 4
    line = refused(capsys, "decompose", path, "data.csv")
    assert "data.csv: several columns may be the categories that the model was trained with" in line
    assert "Bergen, Narvik, Oslo; 0150, 5003, 8500, …; False, True; 1, 2, 3, …." in line
    X.assign(zip="unknown").to_csv("data.csv", index=False)
    assert "no columns may be the categories" in refused(capsys, "decompose", path, "data.csv")


def test_text_that_the_model_does_not_take(folder, capsys):
    X, y = rows()
    joblib.dump(HistGradientBoostingRegressor(max_iter=2).fit(X[["area", "rooms"]], y), "numbers.joblib")
    X.assign(rooms=X["city"]).to_csv("data.csv", index=False)
    line = refused(capsys, "decompose", "numbers.joblib", "data.csv", "--trust")
    assert "data.csv: column 'rooms' has the text" in line


def test_pipelines_get_the_columns_that_they_were_fitted_with(folder, capsys):
    X, y = rows()
    encoders = make_column_transformer(
        (OneHotEncoder(), ["city"]), (OrdinalEncoder(), ["new"]), (SimpleImputer(), ["area", "rooms"])
    )
    model = make_pipeline(encoders, GradientBoostingRegressor(n_estimators=20, max_depth=2, random_state=0)).fit(X, y)
    joblib.dump(model, "pipe.joblib")
    X[X.columns[::-1]].assign(price=y).to_csv("data.csv", index=False)
    assert_close(model.predict(read("pipe.joblib", "price")[1]), model.predict(X))
    arguments = ["decompose", "pipe.joblib", "data.csv", "--trust", "--target", "price", "--out", "results"]
    status, out, err = run(capsys, *arguments)
    assert status == 0 and f"R² of the components against price: {TreeHDMR(model).fit(X).score(X, y):.4f}" in out
    assert "feature names" not in err
    levels = pd.read_csv("results/levels.csv", dtype=str)
    assert list(levels["level"][levels["variable"] == "new"]) == ["True", "False"]
