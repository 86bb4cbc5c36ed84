import sys

import numpy as np
import pytest
import sklearn.datasets
from tolerance import assert_close

from fasthdmr import datasets


def test_ishigami_has_the_known_mean_and_variance():
    X, y = datasets.make_ishigami(200_000, random_state=0)
    assert X.shape == (200_000, 3) and X.dtype == y.dtype == np.float64
    assert np.abs(X).max() <= np.pi
    assert_close(y.mean(), 3.5, 0.01, reason="a mean of 2e5 draws: standard error 0.008")
    assert_close(y.var(), 13.844587940719, 0.02, reason="a variance of 2e5 draws")


def test_ishigami_takes_its_coefficients():
    X, y = datasets.make_ishigami(50, a=2.0, b=0.3, random_state=1)
    assert_close(y, np.sin(X[:, 0]) + 2 * np.sin(X[:, 1]) ** 2 + 0.3 * X[:, 2] ** 4 * np.sin(X[:, 0]))


@pytest.mark.parametrize("rho", [-1.0, 0.0, 0.5, 1.0])
def test_bilinear_gaussian_has_the_correlation_and_variance(rho):
    X, y = datasets.make_bilinear_gaussian(200_000, rho=rho, random_state=0)
    assert_close(np.cov(X.T), [[1, rho], [rho, 1]], 0.02, reason="covariances of 2e5 draws")
    assert_close(y.var(), rho**2 + 2 * rho + 3, 0.05, reason="a variance of 2e5 draws with heavy tails")
    assert_close(y, 1 + X[:, 0] + X[:, 1] + X[:, 0] * X[:, 1])


def test_bilinear_gaussian_refuses_invalid_correlations():
    with pytest.raises(ValueError, match="'rho' parameter must be a float in the range"):
        datasets.make_bilinear_gaussian(10, rho=1.1)


@pytest.mark.parametrize("make", [datasets.make_ishigami, datasets.make_bilinear_gaussian])
def test_equal_seeds_give_equal_draws(make):
    first, second, other = make(20, random_state=3), make(20, random_state=3), make(20, random_state=4)
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[1], second[1])
    assert not np.array_equal(first[0], other[0])


def rent(row):
    """Return the rent of an apartment from the values that the docstring names."""
    price = {"Oslo": 24, "Bergen": 19, "Stavanger": 17, "Drammen": 16, "Bodø": 15, "Hamar": 13, "Røros": 11}
    price |= dict.fromkeys(["Trondheim", "Tromsø"], 18) | dict.fromkeys(["Fredrikstad", "Kristiansand", "Ålesund"], 14)
    heating = {"heat pump": 90, "district": 60, "electric": 0, "wood": -80}.get(row.heating, -30)
    furniture = 300 if row.city in ("Trondheim", "Tromsø") else 150
    floor = 3 if np.isnan(row.floor) else row.floor
    return (
        200
        + price[row.city] * row.area
        + heating
        + 2 * (row.built - 1980)
        + 12 * (floor - 3)
        + furniture * row.furnished
    )


def test_the_rent_is_a_function_of_the_apartment():
    X, y = datasets.make_apartments(3000, random_state=0)
    assert_close(y, [rent(row) for row in X.itertuples()])


def test_apartments_are_data_as_people_have_it():
    X, _ = datasets.make_apartments(20_000, random_state=0)
    kinds = [dtype.name for dtype in X.dtypes]
    assert kinds[:3] == ["float64", "int64", "float64"] and kinds[6] == "bool"
    assert all(isinstance(name, str) for name in X["city"])
    assert_close(X.isna().mean()[["floor", "heating"]], [0.1, 0.08], 0.05, reason="shares of 2e4 draws")
    assert X.isna().sum().drop(["floor", "heating"]).max() == 0
    shares = X["city"].value_counts(normalize=True)
    assert len(shares) == 12 and 0.28 < shares["Oslo"] < 0.32 and 0 < shares["Røros"] < 0.005
    assert (X.groupby("city")["region"].nunique() == 1).all() and X["region"].nunique() == 5
    built = X.groupby("heating")["built"].mean()
    assert built["heat pump"] > built["electric"] + 15 > built["wood"] + 25
    assert X["area"][X["city"] == "Oslo"].mean() < X["area"][X["city"] == "Trondheim"].mean() - 10


def test_apartments_need_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pandas is needed here: pip install 'fasthdmr\[frame\]'"):
        datasets.make_apartments(10)


def test_equal_seeds_give_equal_apartments():
    first, second, other = (datasets.make_apartments(20, random_state=seed) for seed in (3, 3, 4))
    assert first[0].equals(second[0]) and np.array_equal(first[1], second[1])
    assert not first[0].equals(other[0])
    assert datasets.make_apartments(0)[0].shape == (0, 7)


HEADER = "MedHouseVal,MedInc,HouseAge,AveRooms,AveBedrms,Population,AveOccup,Latitude,Longitude"


def test_california_is_read_from_the_directory_by_column_name(tmp_path, monkeypatch):
    (tmp_path / "california_housing.csv").write_text(f"{HEADER}\n9,1,2,3,4,5,6,7,8\n4.5,1,1,1,1,1,1,1,1\n")
    monkeypatch.setenv("FASTHDMR_DATA", str(tmp_path))
    housing = datasets.fetch_california_housing()
    np.testing.assert_array_equal(housing.data, [[1, 2, 3, 4, 5, 6, 7, 8], [1] * 8])
    np.testing.assert_array_equal(housing.target, [9, 4.5])
    assert housing.feature_names[0] == "MedInc" and housing.feature_names[-1] == "Longitude"


def test_california_names_a_missing_column(tmp_path, monkeypatch):
    (tmp_path / "california_housing.csv").write_text("MedInc,HouseAge\n1,2\n")
    monkeypatch.setenv("FASTHDMR_DATA", str(tmp_path))
    with pytest.raises(ValueError, match=r"lacks the columns .*'Latitude'"):
        datasets.fetch_california_housing()


GOOD = f"{HEADER}\n9,1,2,3,4,5,6,7,8\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{HEADER}\n", "it has a header but no rows"),
        (GOOD.replace("Longitude", "Latitude,Longitude"), r"several columns of the same name: \['Latitude'\]"),
        (f"{HEADER}\n1,2,3\n", "it has 3 numbers in a row, but 9 columns"),
        (f"{HEADER}\n1,2,3,4,5,6,7,8,9,10\n", "it has 10 numbers in a row, but 9 columns"),
        (f"{GOOD}1,2,3\n", "the number of columns changed from 9 to 3"),
        (GOOD.replace("3", "nan"), "it has no finite number in row 1"),
        (GOOD.replace("3", "three"), "could not convert string 'three'"),
        (f"{GOOD}\xe9", "codec can't decode"),
    ],
)
def test_california_refuses_invalid_files(text, message, tmp_path, monkeypatch):
    (tmp_path / "california_housing.csv").write_bytes(text.encode("latin-1"))
    monkeypatch.setenv("FASTHDMR_DATA", str(tmp_path))
    with pytest.raises(ValueError, match=f"california_housing.csv cannot be read: .*{message}"):
        datasets.fetch_california_housing()


def test_california_is_read_with_a_mark_of_its_encoding(tmp_path, monkeypatch):
    (tmp_path / "california_housing.csv").write_text(GOOD, encoding="utf-8-sig")
    monkeypatch.setenv("FASTHDMR_DATA", str(tmp_path))
    np.testing.assert_array_equal(datasets.fetch_california_housing().target, [9])


@pytest.mark.parametrize("is_set", [False, True])
def test_california_falls_back_on_scikit_learn(is_set, tmp_path, monkeypatch):
    monkeypatch.delenv("FASTHDMR_DATA", raising=False)
    if is_set:
        monkeypatch.setenv("FASTHDMR_DATA", str(tmp_path))
    fetched = object()
    monkeypatch.setattr(sklearn.datasets, "fetch_california_housing", lambda: fetched)
    assert datasets.fetch_california_housing() is fetched
