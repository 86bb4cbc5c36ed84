"""onnxruntime, of a model converted by skl2onnx."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np

from bench.models import converted
from bench.runner import Contender, quietly, threads


def contender(model: Any, X: np.ndarray, *, stage: str, n_jobs: int = 1) -> Contender:
    """Return its prediction; converting and opening the session are not measured."""
    rows = np.ascontiguousarray(X, dtype=np.float32)

    def prepare() -> Any:
        import onnxruntime
        from skl2onnx import to_onnx

        path = converted(
            model,
            f"{version('skl2onnx')}.onnx",
            lambda path: path.write_bytes(to_onnx(model, rows[:1]).SerializeToString()),
        )
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = n_jobs, 1
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def run(session: Any) -> Any:
        return session.run(None, {session.get_inputs()[0].name: rows})[0][:, 0]

    name = f"onnxruntime, {threads(n_jobs)}"
    return Contender(name, stage, run, quietly(prepare), lambda output: {"output": output})
