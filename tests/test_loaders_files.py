"""Files of xgboost, LightGBM, CatBoost and skops: read without these libraries; damaged ones are errors."""

import json
import subprocess
import sys

import joblib
import numpy as np
import pytest
from boosters import library
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_friedman1
from sklearn.ensemble import GradientBoostingRegressor
from tolerance import assert_close

from fasthdmr import load_forest

X, Y = make_friedman1(120, 5, random_state=0)
LABELS = np.digitize(Y, np.quantile(Y, [0.3, 0.7]))
FLOAT32 = "xgboost adds its trees up in float32"


def xgboost_models():
    xgb = library("xgboost")
    options = {"n_estimators": 6, "max_depth": 3, "n_jobs": 1}
    yield xgb.XGBRegressor(booster="dart", rate_drop=0.4, **options).fit(X, Y), "y"
    yield xgb.XGBClassifier(base_score=0.3, **options).fit(X, LABELS > 0), "log-odds"
    yield xgb.XGBClassifier(**options).fit(X, LABELS), "scores"


@pytest.mark.parametrize("ending", ["ubj", "json"])
@pytest.mark.parametrize("as_path", [str, lambda path: path], ids=["str", "Path"])
def test_files_of_xgboost(ending, as_path, tmp_path):
    xgb = library("xgboost")
    for model, _ in xgboost_models():
        path = tmp_path / f"model.{ending}"
        model.save_model(path)
        forest = load_forest(as_path(path))
        assert np.array_equal(forest.predict(X), load_forest(model.get_booster()).predict(X))
        margin = xgb.Booster(model_file=path).predict(xgb.DMatrix(X), output_margin=True)
        assert_close(forest.predict(X), margin, rtol=1e-5, reason=FLOAT32)


def test_a_file_of_xgboost_is_read_as_its_booster_predicts_with_all_rounds(tmp_path):
    xgb, noise = library("xgboost"), np.random.default_rng(0).normal(size=120)
    model = xgb.XGBRegressor(n_estimators=40, early_stopping_rounds=3, learning_rate=0.9, n_jobs=1)
    model.fit(X[:60], noise[:60], eval_set=[(X[60:], noise[60:])], verbose=False)
    path = tmp_path / "model.ubj"
    model.save_model(path)
    forest = load_forest(path)
    assert forest.n_trees > model.best_iteration + 1 == load_forest(model).n_trees
    predicted = xgb.Booster(model_file=path).predict(xgb.DMatrix(X))
    assert_close(forest.predict(X), predicted, rtol=1e-5, reason=FLOAT32)


def test_files_of_lightgbm(tmp_path):
    pd, lgb = pytest.importorskip("pandas"), library("lightgbm")
    frame = pd.DataFrame(X, columns=list("abcde"))
    for make, y in ((lgb.LGBMRegressor, Y), (lgb.LGBMClassifier, LABELS)):
        model = make(n_estimators=6, verbose=-1, n_jobs=1).fit(frame, y)
        path = tmp_path / "model.txt"
        model.booster_.save_model(path)
        forest = load_forest(path)
        assert forest.feature_names == tuple("abcde")
        assert_close(forest.predict(frame), lgb.Booster(model_file=path).predict(frame, raw_score=True))
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert_close(load_forest(path).predict(frame), forest.predict(frame))


@pytest.mark.parametrize("ending", ["cbm", "json"])
def test_files_of_catboost(ending, tmp_path):
    pd, cb = pytest.importorskip("pandas"), library("catboost")
    frame = pd.DataFrame(X, columns=list("abcde")).assign(constant=1.0, last=X[:, 0])
    options = {"iterations": 6, "depth": 3, "verbose": 0, "allow_writing_files": False}
    path = tmp_path / f"model.{ending}"
    for make, y in ((cb.CatBoostRegressor, Y), (cb.CatBoostClassifier, LABELS), (cb.CatBoostClassifier, LABELS > 0)):
        model = make(**options).fit(frame, y)
        model.save_model(path, format=ending)
        forest = load_forest(path)
        assert forest.feature_names == tuple(frame) == tuple(model.feature_names_)
        assert forest.output_names == (("0", "1", "2") if forest.n_outputs > 1 else None)
        assert_close(forest.predict(frame), model.predict(frame, prediction_type="RawFormulaVal"))


def test_files_of_models_with_categories_know_the_levels(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": pd.Categorical(np.array(list("xyz"))[LABELS]), "b": X[:, 0]})
    other = frame.assign(a=frame["a"].cat.reorder_categories(list("zxy")))
    xgb, lgb = library("xgboost"), library("lightgbm")
    ranks = xgb.XGBRegressor(n_estimators=4, max_depth=2, enable_categorical=True, n_jobs=1).fit(frame, Y)
    leaves = lgb.LGBMRegressor(n_estimators=4, min_child_samples=5, min_data_per_group=1, verbose=-1).fit(frame, Y)
    for model, save, name in (
        (ranks, ranks.save_model, "a.ubj"),
        (ranks, ranks.save_model, "a.json"),
        (leaves, leaves.booster_.save_model, "a.txt"),
    ):
        save(tmp_path / name)
        forest, desired = load_forest(tmp_path / name), load_forest(model)
        assert forest.levels == desired.levels
        for rows in (frame, other) if forest.levels else ():  # xgboost before 3.1 writes none
            assert np.array_equal(forest.predict(rows), desired.predict(rows))


def test_files_of_skops(tmp_path):
    skops_io = pytest.importorskip("skops.io")
    model = GradientBoostingRegressor(n_estimators=5).fit(X, Y)
    skops_io.dump(model, tmp_path / "model.skops")
    assert_close(load_forest(tmp_path / "model.skops").predict(X), model.predict(X))


def test_reading_imports_no_other_library(tmp_path):
    next(xgboost_models())[0].save_model(tmp_path / "model.ubj")
    library("lightgbm").LGBMRegressor(n_estimators=2, verbose=-1).fit(X, Y).booster_.save_model(tmp_path / "model.txt")
    code = (
        "import sys, fasthdmr; [fasthdmr.load_forest(path) for path in sys.argv[1:]]; "
        "assert not {'xgboost', 'lightgbm', 'catboost', 'skops'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code, tmp_path / "model.ubj", tmp_path / "model.txt"], check=True)


def test_missing_files_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="no file no-such-model"):
        load_forest("no-such-model.ubj")
    with pytest.raises(FileNotFoundError):
        load_forest(tmp_path)
    with pytest.raises(TypeError, match="path of a file"):
        load_forest(b"model.ubj")
    joblib.dump(GradientBoostingRegressor(n_estimators=1).fit(X, Y), tmp_path / "model.joblib")
    with pytest.raises(ValueError, match=r"any code.*joblib.load"):
        load_forest(tmp_path / "model.joblib")


XGBOOST = {
    "learner": {
        "feature_names": ["a"],
        "objective": {"name": "reg:squarederror"},
        "learner_model_param": {"num_class": "0", "num_target": "1", "num_feature": "1", "base_score": "0.5"},
        "gradient_booster": {
            "name": "gbtree",
            "model": {
                "tree_info": [0],
                "trees": [
                    {
                        "left_children": [1, -1, -1],
                        "right_children": [2, -1, -1],
                        "split_indices": [0, 0, 0],
                        "split_conditions": [0.5, -1.0, 2.0],
                        "default_left": [1, 0, 0],
                        "sum_hessian": [9, 4, 5],
                        "tree_param": {"num_nodes": "3", "size_leaf_vector": "1"},
                    }
                ],
            },
        },
    }
}
CATBOOST = {
    "features_info": {
        "float_features": [
            {"flat_feature_index": 0, "feature_id": "a", "nan_value_treatment": "AsIs", "borders": [0.5]}
        ]
    },
    "model_info": {},
    "scale_and_bias": [1, [0.5]],
    "oblivious_trees": [
        {
            "leaf_values": [-1, 2],
            "splits": [{"border": 0.5, "float_feature_index": 0, "split_type": "FloatFeature"}],
        }
    ],
}
LIGHTGBM = (
    "tree\nversion=v4\nnum_tree_per_iteration=1\nmax_feature_idx=0\nfeature_names=a\nobjective=regression\n\n"
    "Tree=0\nnum_leaves=2\nsplit_feature=0\nthreshold=0.5\ndecision_type=2\nleft_child=-1\nright_child=-2\n"
    "leaf_value=-0.5 2.5\nleaf_count=3 4\ninternal_count=7\n\nend of trees\n"
)
WRITTEN = {"xgboost": json.dumps(XGBOOST), "CatBoost": json.dumps(CATBOOST), "LightGBM": LIGHTGBM}
WRITTEN_BYTES = {name: text.encode() for name, text in WRITTEN.items()}


@pytest.mark.parametrize("name", WRITTEN)
def test_written_examples(name, tmp_path):
    (tmp_path / "model").write_text(WRITTEN[name])
    forest = load_forest(tmp_path / "model")
    assert forest.feature_names == ("a",)
    assert forest.predict([[0.0], [1.0]]).tolist() == [-0.5, 2.5]


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("xgboost", '"num_feature": "1"', '"num_feature": "1000000000000"', "'num_feature' is out of range"),
        ("xgboost", '"num_class": "0"', '"num_class": "-1"', "'num_class' is out of range"),
        ("xgboost", '"num_class": "0"', '"num_class": "9999999999"', "'num_class' is out of range"),
        ("xgboost", '"num_class": "0", ', "", "no 'num_class'"),
        ("xgboost", '"base_score": "0.5"', '"base_score": [1]', "must be str"),
        ("xgboost", '"base_score": "0.5"', '"base_score": "NaN"', "base_score.*out of the range"),
        ("xgboost", '"base_score": "0.5"', '"base_score": "' + "[" * 100_000 + '"', "recursion"),
        ("xgboost", "reg:squarederror", "count:poisson", None),
        ("xgboost", "reg:squarederror", "mine", "objective 'mine'"),
        ("xgboost", '"split_indices": [0', '"split_indices": [1', "feature"),
        ("xgboost", '"tree_info": [0]', '"tree_info": [0, 0]', "tree_output"),
        ("xgboost", '"tree_info": [0]', '"tree_info": [7]', "output"),
        ("xgboost", '"tree_info": [0]', '"tree_info": "0"', "tree_output"),
        ("xgboost", '"feature_names": ["a"]', '"feature_names": ["a", "b"]', "feature_names"),
        ("xgboost", '"learner"', '"learners"', "no model of xgboost"),
        ("xgboost", '-1, -1], "right', '-1, 1e300], "right', "whole number"),
        ("CatBoost", '"flat_feature_index": 0', '"flat_feature_index": 1e15', "out of range"),
        ("CatBoost", "[1, [0.5]]", '["a", [0.5]]', "convert string to float"),
        ("CatBoost", "[1, [0.5]]", "[1e999, [0.5]]", "a number that float64 cannot hold"),
        ("CatBoost", "[-1, 2]", "[-1, 2, 3]", "should have 2 values"),
        ("LightGBM", "max_feature_idx=0", "max_feature_idx=1000000000000", "out of range"),
        ("LightGBM", "num_tree_per_iteration=1", "num_tree_per_iteration=99999999999", "out of range"),
        ("LightGBM", "num_tree_per_iteration=1", "num_tree_per_iteration=3", "1 trees for 3 outputs"),
        ("LightGBM", "feature_names=a\n", "", "no 'feature_names'"),
        ("LightGBM", "feature_names=a", "feature_names=a b", "feature_names"),
        ("LightGBM", "end of trees", "", "ends within the trees"),
    ],
)
def test_errors_of_damaged_files_name_the_fault(name, old, new, message, tmp_path):
    assert old in WRITTEN[name]
    path = tmp_path / "model"
    path.write_text(WRITTEN[name].replace(old, new))
    if message is None:
        load_forest(path)
        return
    with pytest.raises(ValueError, match=rf"model cannot be loaded.*{message}"):
        load_forest(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[" * 100_000, "too many levels"),
        (b"{L\x00\x00\x00\x00\x00\x00\x00\x07learner{", "too early"),
        (b"{L\x7f\xff\xff\xff\xff\xff\xff\xff", "more than the rest"),
        (b'[{"nodeid": 0, "leaf": 1}]', "no model of xgboost"),
        (b'{"tree_info": [{"tree_structure": {"leaf_value": 1}}]}', "Dumps of trees are not read"),
        (b"tree\nversion=v4\nnum_class=1\n", "ends before the trees"),
        (b"binf\x00\x00\x00\x3f", "before 3.1"),
        (b"CBM1\x00\x00", ""),
        (b"booster[0]:\n0:leaf=1\n", "nor one of a library"),
    ],
)
def test_invalid_model_files_are_refused(content, message, tmp_path):
    if content.startswith(b"CBM1"):
        library("catboost")
    (tmp_path / "model").write_bytes(content)
    with pytest.raises(ValueError, match=f"model cannot be loaded.*{message}"):
        load_forest(tmp_path / "model")


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_changed_bytes_are_an_error_or_a_forest(tmp_path_factory, data):
    content = bytearray(WRITTEN_BYTES[data.draw(st.sampled_from(list(WRITTEN)))])
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at : at + data.draw(st.integers(0, 4))] = data.draw(
            st.one_of(
                st.binary(max_size=4), st.sampled_from([b"-1", b"[]", b"null", b"1e400", b"9" * 30, b'"x"', b"{}"])
            )
        )
    path = tmp_path_factory.getbasetemp() / "changed"
    path.write_bytes(content)
    message = ""
    try:
        forest = load_forest(path)
    except ValueError as error:
        message = str(error)
    if message:
        assert str(path) in message
    else:
        assert np.isfinite(forest.offset).all()
        forest.predict(np.zeros((2, forest.n_features)))
