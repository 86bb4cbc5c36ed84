"""The model of a file, decomposed on the rows of another."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fasthdmr._cli.data_file import Rows, read_rows
from fasthdmr._cli.labels import accuracy, class_numbers
from fasthdmr._data.encoding import FROM_DTYPE, categorical_columns
from fasthdmr._estimators.scores import r_squared
from fasthdmr._estimators.tree_hdmr import TreeHDMR
from fasthdmr._forest.forest import Forest
from fasthdmr._support.cached import cached_property
from fasthdmr._support.output_file import check_target
from fasthdmr._support.typing import Floats
from fasthdmr.loaders import load_forest
from fasthdmr.loaders.model_file import load_model


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model and its decomposition.

    Attributes
    ----------
    model : fitted model, or Forest
        As the file has it.
    hdmr : TreeHDMR
        Fitted.
    rows : Rows
    outputs : list of int
        The outputs to show.
    """

    model: Any
    hdmr: TreeHDMR
    rows: Rows
    outputs: list[int]

    @property
    def forest(self) -> Forest:
        """The trees."""
        return self.hdmr.forests_[0]

    @cached_property
    def fidelities(self) -> list[float]:
        """R² of the components against the model, for each output."""
        components, model = (values.reshape(len(values), -1) for values in (self._components, self._model))
        weights = self.rows.weights
        return [r_squared(model[:, k], components[:, k], weights) for k in range(components.shape[1])]

    def scores(self, target: str | None) -> dict[str, str]:
        """Return R² and accuracies as text, by what they are."""
        _, y, weights = self.rows
        fidelity = float(np.mean([self.fidelities[k] for k in self.outputs]))
        scores = {"R² of the components against the model": fidelity}
        if y is not None and self.forest.is_classifier:
            labels = class_numbers(y, getattr(self.model, "classes_", None), self.forest.n_outputs)
            for name, values in (("components", self._components), ("model", self._model)):
                hits = accuracy(values, self.hdmr.decomposition_.unit, labels, weights)
                scores[f"Accuracy of the {name} against {target}"] = hits
        elif y is not None:
            prediction = self._components.reshape(len(y), -1)[:, self.outputs[0]]
            scores[f"R² of the components against {target}"] = r_squared(y, prediction, weights)
        return {name: f"{score:.4f}" for name, score in scores.items()}

    @cached_property
    def _components(self) -> Floats:
        """The constant and the components at the rows."""
        return self.hdmr.predict(self.rows.X)

    @cached_property
    def _model(self) -> Floats:
        """The output of the model at the rows."""
        model: Floats = self._components + self.hdmr.residual(self.rows.X)
        return model


def fit(arguments: argparse.Namespace) -> Fitted:
    """Read the files that the arguments name, and decompose the model."""
    model = load_model(arguments.model, trust=arguments.trust, unpack_limit=arguments.unpack_limit)
    forest = load_forest(model)
    outputs = list(range(forest.n_outputs)) if arguments.output is None else [_output(arguments.output, forest)]
    has_one_target = len(outputs) == 1 or (forest.is_classifier and not _has_several_targets(model))
    if arguments.target is not None and not has_one_target:
        raise ValueError(
            f"--target is one column, but the model has several outputs ({forest.n_outputs}). Choose one: --output "
            f"{_output_names(forest)[0]}."
        )
    rows = read_rows(arguments.data, forest, arguments.target, arguments.weights)
    if rows.y is not None and forest.is_classifier:  # before the work begins
        class_numbers(rows.y, getattr(model, "classes_", None), forest.n_outputs)
    hdmr = TreeHDMR(
        forest,
        order=arguments.order,
        interactions=arguments.interactions,
        basis=arguments.basis,
        smooth=not arguments.faithful,
        measure=arguments.measure,
        categorical_features=_categorical(rows.X, arguments.categorical),
        n_jobs=arguments.n_jobs,
    ).fit(rows.X, sample_weight=rows.weights)
    return Fitted(model, hdmr, rows, outputs)


def check_targets(targets: Sequence[Path], inputs: Sequence[Path] = ()) -> None:
    """Raise an error, before the work begins, for output files that cannot be written or are also inputs."""
    for target in targets:
        check_target(target)
        if target.is_file() and any(path.exists() and path.samefile(target) for path in inputs):
            raise ValueError(f"{target} is read, so it cannot be written as well.")


def _has_several_targets(model: Any) -> bool:
    return isinstance(getattr(model, "classes_", None), list)  # a list of arrays


def _output(name: str, forest: Forest) -> int:
    """Return the index of an output, given by its name or, if none has that name, by its index."""
    names = _output_names(forest)
    if name in names:
        return names.index(name)
    if name.isdecimal() and int(name) < len(names):
        return int(name)
    raise ValueError(f"--output must be one of {', '.join(names)}, got {name!r}.")


def _output_names(forest: Forest) -> list[str]:
    """Return the names of the outputs, as the decomposition has them."""
    return list(forest.output_names or (f"y{k}" for k in range(forest.n_outputs)))


def _categorical(X: Any, names: Sequence[str] | None) -> Any:
    """Return the columns that hold codes of categories, with those that hold text or categories."""
    if not names:
        return FROM_DTYPE
    return sorted({*categorical_columns(X, list(names)), *categorical_columns(X, FROM_DTYPE)})
