"""lleaves: the trees compiled by LLVM, from a LightGBM model file that is equivalent to scikit-learn's model."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from bench.models import converted
from bench.runner import Contender, quietly


def _block(number: int, tree: Any, scale: float) -> Iterator[str]:
    """Return the lines of a tree: LightGBM numbers inner nodes and leaves apart, a leaf's number is inverted."""
    leaf = tree.children_left < 0
    code = np.where(leaf, -np.cumsum(leaf), np.cumsum(~leaf) - 1)
    # Its parser takes a threshold of 0 for a missing one. No number in single precision is between 0 and this.
    threshold = np.where(tree.threshold == 0, np.finfo(float).tiny, tree.threshold)
    values = {
        "split_feature": tree.feature[~leaf],
        "threshold": threshold[~leaf],
        "decision_type": np.full(np.sum(~leaf), 2),  # x <= threshold goes left
        "left_child": code[tree.children_left[~leaf]],
        "right_child": code[tree.children_right[~leaf]],
        "leaf_value": scale * tree.value[leaf, 0, 0],
    }
    yield from (f"Tree={number}", f"num_leaves={leaf.sum()}", "num_cat=0")
    yield from (f"{key}={' '.join(map(repr, value.tolist()))}" for key, value in values.items())
    yield ""


def lightgbm_text(model: Any) -> str:
    """Return the trees of a gradient boosting, without its first prediction, as LightGBM would save them."""
    trees, n = np.ravel(model.estimators_), model.n_features_in_
    lines = ["tree", "version=v4", "num_class=1", "num_tree_per_iteration=1", f"max_feature_idx={n - 1}"]
    lines += ["objective=regression", f"feature_infos={' '.join(['[-inf:inf]'] * n)}"]
    lines += [f"tree_sizes={' '.join(['1'] * len(trees))}", ""]
    for number, tree in enumerate(trees):
        lines += _block(number, tree.tree_, model.learning_rate)
    return "\n".join([*lines, "end of trees", "", "pandas_categorical:[]", ""])


def _use_new_passes(vectorise: bool) -> None:
    """Let lleaves run with an llvmlite that no longer has the pass manager that it calls.

    Optimisation level and inlining are those of lleaves; vectorisation, which it does not enable, is an argument.
    """
    import llvmlite.binding as llvm
    from lleaves import llvm_binding

    class Passes:
        def populate(self, modules: Any) -> None:
            pass

    class Modules:
        def run(self, module: Any) -> None:
            options = llvm.create_pipeline_tuning_options(speed_level=3)
            options.inlining_threshold = 1
            options.loop_vectorization = options.slp_vectorization = vectorise
            builder = llvm.create_pass_builder(llvm_binding._get_target_machine(), options)
            builder.getModulePassManager().run(module, builder)

    llvm.initialize = lambda: None
    llvm.PassManagerBuilder, llvm.ModulePassManager = Passes, Modules
    llvm_binding._initialize_llvm()


def compiled(model: Any, write: Callable[[Path], Any], *, vectorise: bool) -> Any:
    """Return the engine of the LightGBM model that `write` puts into a file, compiled once and kept for the model."""
    import lleaves
    import llvmlite.binding as llvm

    if vectorise or not hasattr(llvm, "PassManagerBuilder"):
        _use_new_passes(vectorise)
    how = "vector" if vectorise else "scalar"
    kind = f"lleaves{version('lleaves')}-{how}-llvm{version('llvmlite')}-{llvm.get_host_cpu_name()}.o"
    with tempfile.TemporaryDirectory() as directory:
        text = Path(directory) / "model.txt"
        write(text)

        def make(path: Path) -> Any:
            engine = lleaves.Model(str(text))
            engine.compile(cache=path, use_fp64=not vectorise)
            return engine

        return make(converted(model, kind, make))


def contender(model: Any, X: np.ndarray, *, stage: str, vectorise: bool = False) -> Contender:
    """Return its prediction; compiling is not measured. Vectorised, it computes in single precision."""
    rows = np.ascontiguousarray(X, dtype=np.float32)
    rows = rows if vectorise else rows.astype(np.float64)

    def prepare() -> Any:
        engine = compiled(model, lambda path: path.write_text(lightgbm_text(model)), vectorise=vectorise)
        return engine, float(model.init_.constant_[0, 0])

    def run(prepared: Any) -> Any:
        engine, first = prepared
        return first + engine.predict(rows, n_jobs=1)

    name = "lleaves, vectorised" if vectorise else "lleaves, 1 thread"
    return Contender(name, stage, run, quietly(prepare), lambda output: {"output": output})
