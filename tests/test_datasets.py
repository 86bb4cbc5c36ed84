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
