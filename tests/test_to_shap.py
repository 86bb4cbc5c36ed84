"""Explanations of the package shap, and its plots of them."""

import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from models import LABELS, X, Y
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from tolerance import assert_close

from fasthdmr import HDMR, TreeHDMR
from fasthdmr.datasets import make_apartments

mpl.use("Agg")
pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.FastHDMRWarning")

FRAME = pd.DataFrame(X, columns=["a", "b", "c", "d"])
BOOSTED = GradientBoostingRegressor(n_estimators=20, max_depth=3, random_state=0).fit(FRAME, Y)


@pytest.fixture(scope="module")
def shap():
    return pytest.importorskip("shap", reason="shap is not installed: pip install 'fasthdmr[shap]'")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


def total(explanation):
    return explanation.base_values + explanation.values.sum(axis=1)


@pytest.mark.usefixtures("shap")
def test_without_residual_there_is_one_column_for_each_variable():
    hdmr = TreeHDMR(BOOSTED, measure="product", order=None).fit(FRAME)
    explanation = hdmr.to_shap(FRAME[:30])
    assert np.array_equal(explanation.values, hdmr.shapley_values(FRAME[:30]))
    assert np.array_equal(explanation.base_values, np.full(30, hdmr.intercept_))
    assert np.array_equal(explanation.data, X[:30])
    assert list(explanation.feature_names) == list(FRAME) and explanation.output_names is None
    assert_close(total(explanation), BOOSTED.predict(FRAME[:30]))


@pytest.mark.usefixtures("shap")
def test_the_residual_is_the_last_column():
    hdmr = TreeHDMR(BOOSTED).fit(FRAME)
    explanation = hdmr.to_shap(FRAME)
    assert list(explanation.feature_names) == [*FRAME, "residual"]
    assert np.array_equal(explanation.values[:, :4], hdmr.shapley_values(FRAME))
    assert_close(explanation.values[:, 4], hdmr.residual(FRAME), 1e-9)
    assert np.isnan(explanation.data[:, 4]).all()
    assert_close(total(explanation), BOOSTED.predict(FRAME))


@pytest.mark.usefixtures("shap")
def test_several_outputs():
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, LABELS)
    explanation = TreeHDMR(model).fit(X).to_shap(X)
    assert explanation.values.shape == (120, 5, 3) and explanation.base_values.shape == (120, 3)
    assert len(explanation.output_names) == 3
    assert_close(total(explanation), model.decision_function(X))
    assert explanation[0, :, 1].values.shape == (5,)


@pytest.mark.usefixtures("shap")
def test_levels_missing_values_and_groups_are_data():
    rows, y = make_apartments(300, random_state=0)
    numeric = [name for name, dtype in rows.dtypes.items() if dtype.kind in "if"]
    (level, *_) = [name for name in rows if name not in numeric]
    rows[level] = rows[level].astype(object)
    rows.iloc[0, rows.columns.get_loc(level)] = None
    hdmr = HDMR(feature_groups={"both": numeric[:2]}).fit(rows, y)
    explanation = hdmr.to_shap(rows)  # of y itself: there is no residual
    assert list(explanation.feature_names) == list(hdmr.feature_names_)
    assert_close(total(explanation), hdmr.predict(rows))
    of = dict(zip(explanation.feature_names, explanation.data.T, strict=True))
    assert of[level].tolist() == rows[level].tolist()
    assert of["both"][3] == tuple(rows[numeric[:2]].iloc[3])


@pytest.mark.filterwarnings("ignore")  # of shap
def test_plots_of_shap(shap):
    rows, y = make_apartments(300, random_state=0)
    for hdmr, X_, y_ in ((TreeHDMR(BOOSTED), FRAME, None), (HDMR(), rows, y)):
        explanation = hdmr.fit(X_, y_).to_shap(X_)
        shap.plots.beeswarm(explanation, show=False)
        shap.plots.bar(explanation, show=False)
        shap.plots.waterfall(explanation[0], show=False)
        assert pyplot.get_fignums()
        pyplot.close("all")
        shap.plots.scatter(explanation[:, 0], show=False)
        assert pyplot.gcf().axes
        pyplot.close("all")


@pytest.mark.filterwarnings("ignore")  # of shap
@pytest.mark.usefixtures("shap")
def test_without_shap_the_error_names_the_extra(monkeypatch):
    hdmr = TreeHDMR(BOOSTED).fit(FRAME)
    monkeypatch.setitem(sys.modules, "shap", None)
    with pytest.raises(ImportError, match=r"fasthdmr\[shap\]"):
        hdmr.to_shap(FRAME)
