"""Write what the fuzz targets in csrc/fuzz start from.

They are small models of xgboost, LightGBM and CatBoost, and bytes of which ``fuzz_forest`` makes forests.
"""

import json
import sys
from pathlib import Path

import catboost
import lightgbm as lgb
import numpy as np
import pandas as pd
import xgboost as xgb

SEEDS = Path(__file__).resolve().parents[2] / "csrc" / "fuzz" / "seeds"
RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 4)).round(1)
LEVELS = RNG.integers(0, 3, 40)
Y = (X[:, 0] + X[:, 1] * X[:, 2] + LEVELS).round(1)
LABELS = np.digitize(Y, np.quantile(Y, [0.3, 0.7]))
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(d=pd.Categorical(LEVELS))


def xgboost_models():
    small = {"n_estimators": 2, "max_depth": 2, "n_jobs": 1}
    yield "plain", xgb.XGBRegressor(**small).fit(X, Y)
    yield "dart", xgb.XGBRegressor(booster="dart", rate_drop=0.5, **small).fit(X, Y)
    yield "classes", xgb.XGBClassifier(**small | {"n_estimators": 1}).fit(X, LABELS)
    yield "vector", xgb.XGBRegressor(multi_strategy="multi_output_tree", **small).fit(X, np.column_stack([Y, -Y]))
    yield "categories", xgb.XGBRegressor(enable_categorical=True, max_cat_to_onehot=1, **small).fit(FRAME, Y)


def lightgbm_models():
    small = {"n_estimators": 2, "num_leaves": 4, "min_child_samples": 2, "n_jobs": 1, "verbose": -1}
    yield "plain", lgb.LGBMRegressor(**small).fit(X, Y)
    yield "classes", lgb.LGBMClassifier(**small | {"n_estimators": 1}).fit(X, LABELS)
    yield "zeros", lgb.LGBMRegressor(zero_as_missing=True, **small).fit(X, Y)
    yield "categories", lgb.LGBMRegressor(min_data_per_group=2, cat_smooth=0, **small).fit(FRAME, Y)


def catboost_models():
    small = {"iterations": 2, "depth": 2, "verbose": False, "thread_count": 1, "allow_writing_files": False}
    text = FRAME.assign(d=np.array(["x", "y", "z"])[LEVELS])
    yield "plain", catboost.CatBoostRegressor(**small).fit(X, Y)
    yield "nested", catboost.CatBoostRegressor(grow_policy="Lossguide", **small).fit(X, Y)
    yield "classes", catboost.CatBoostClassifier(**small | {"iterations": 1}).fit(X, LABELS)
    yield "categories", catboost.CatBoostRegressor(one_hot_max_size=9, **small).fit(text, Y, cat_features=["d"])


def forest_bytes(features=3, outputs=1, depth=3, trees=8, **chosen):
    """Return the numbers that ``fuzz_forest`` reads, in its order; those of nodes and rows are random."""

    def choice(name):
        return 0 if chosen.get(name) else 126  # as `Bytes::happens` reads it

    n_values = 9
    values = np.random.default_rng(features + depth + trees)
    numbers = [choice("by_sets"), choice("damaged"), choice("awkward"), n_values - 1, *values.bytes(2 * n_values)]
    numbers += [features - 1, outputs - 1, choice("vector"), depth, trees, choice("copies")]
    numbers += [127 if chosen.get("many_thresholds") else 0]
    return bytes(numbers) + values.bytes(1500)


def forests():
    yield "stumps", forest_bytes(depth=1)
    yield "deep", forest_bytes(features=5, depth=9, trees=4)
    yield "copies", forest_bytes(depth=4, copies=True)
    yield "outputs", forest_bytes(outputs=3)
    yield "vector", forest_bytes(outputs=3, vector=True)
    yield "awkward", forest_bytes(depth=5, awkward=True)
    yield "sets", forest_bytes(depth=4, by_sets=True)
    yield "awkward_sets", forest_bytes(features=4, depth=4, by_sets=True, awkward=True)
    yield "damaged", forest_bytes(trees=9, damaged=True)
    yield "damaged_sets", forest_bytes(trees=7, damaged=True, by_sets=True)
    yield "many_thresholds", forest_bytes(trees=1, many_thresholds=True)


def main() -> int:
    document, lightgbm, forest = (SEEDS / name for name in ("document", "lightgbm", "forest"))
    for folder in (document, lightgbm, forest):
        folder.mkdir(parents=True, exist_ok=True)
    for name, model in xgboost_models():
        for ending in ("ubj", "json"):
            model.save_model(document / f"xgboost_{name}.{ending}")
    for name, model in catboost_models():
        path = document / f"catboost_{name}.json"
        model.save_model(path, format="json")
        # What is not read is long, and differs from run to run.
        content = json.loads(path.read_text()) | {"model_info": {}}
        path.write_text(json.dumps(content, separators=(",", ":")))
    for name, model in lightgbm_models():
        text = model.booster_.model_to_string()
        (lightgbm / f"{name}.txt").write_text(text[: text.index("end of trees")] + "end of trees\n")
    for name, content in forests():
        (forest / f"{name}.bin").write_bytes(content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
