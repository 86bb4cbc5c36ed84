"""Fuzz targets of the files that Python reads. A damaged file is a ValueError; anything else is a finding."""

import contextlib
import io
import tempfile
import warnings
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor

import fasthdmr
from fasthdmr._cli.data_file import read_rows

SEEDS = Path(__file__).resolve().parents[2] / "csrc" / "fuzz" / "seeds"
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3)).round(2)
Y = X[:, 0] + X[:, 1] * X[:, 2]
LEVELS = np.column_stack([RNG.choice(["a", "b", "c"], 60).astype(object), X[:, 1:]])


@cache
def model():
    return GradientBoostingRegressor(n_estimators=3, max_depth=2, random_state=0).fit(X, Y)


@cache
def folder():
    return Path(tempfile.mkdtemp())


def file_of(content):
    path = folder() / "content"
    path.unlink(missing_ok=True)  # a file that is overwritten would wait for the disk
    path.write_bytes(content)
    return path


def read_csv(content):
    """A file of rows for a model of three unnamed variables."""
    read_rows(file_of(content), fasthdmr.load_forest(model()), target="y")


def read_model(content):
    """A model file of xgboost, LightGBM or CatBoost. What is accepted can be evaluated."""
    forest = fasthdmr.load_forest(file_of(content))
    if forest.n_features < 100 and not forest.text_levels:
        forest.predict(np.zeros((2, forest.n_features)))


def read_saved(content):
    """A saved decomposition. What is accepted can be evaluated."""
    hdmr = fasthdmr.load_decomposition(io.BytesIO(content))
    levels = getattr(hdmr, "decomposition_", hdmr).levels
    hdmr.predict(LEVELS[:5] if levels else X[:5])


def saved(hdmr):
    file = io.BytesIO()
    hdmr.save(file)
    return file.getvalue()


def csv_seeds():
    rows = "x0,x1,x2,y\n" + "".join(f"{a},{b},{c},{y}\n" for (a, b, c), y in zip(X[:5], Y[:5], strict=True))
    yield from (rows.encode(), b'x0,x1,"x 2",y\r\n"1", 2e3,-.5,1\r\n0,0,1e-300,-7')


def model_seeds():
    yield from (path.read_bytes() for path in sorted([*SEEDS.glob("document/*"), *SEEDS.glob("lightgbm/*")]))


def saved_seeds():
    yield saved(fasthdmr.HDMR(n_splines=3).fit(LEVELS, Y))
    yield saved(fasthdmr.TreeHDMR(model(), n_splines=3, ci="bootstrap", order=1).fit(X))
    yield saved(fasthdmr.TreeHDMR(model(), basis="trees", feature_groups={"g": [0, 2]}).fit(X))
    yield saved(fasthdmr.TreeHDMR(model(), measure="product").fit(X))
    yield saved(fasthdmr.decompose(X, [0, 1, (0, 1)], coef=[1, 2, 3]))


TARGETS = {"csv": (read_csv, csv_seeds), "model": (read_model, model_seeds), "saved": (read_saved, saved_seeds)}


def call(target, content):
    """Run a target. Only a ValueError is permitted, and warnings are not errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.suppress(ValueError):
            target(content)


def in_member(content, mutate, random):
    """Return a zip file in which one member has changed, and its checksum with it; of other files the bytes change."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except Exception:  # it is no zip file any more
        return mutate(content)
    if not members:
        return mutate(content)
    name = sorted(members)[random.integers(len(members))]
    members[name] = mutate(members[name])
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()
