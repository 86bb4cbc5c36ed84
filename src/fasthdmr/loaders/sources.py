"""The column of X that each output of a fitted transformer is a function of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.utils.validation import check_is_fitted

from fasthdmr.loaders.registry import public_name

Sources = list[int]


def is_identity(step: Any) -> bool:
    """Return whether a step of a pipeline is left out."""
    return step is None or (isinstance(step, str) and step == "passthrough")


def count_of_inputs(name: str, step: Any) -> int:
    """Return the number of columns that a fitted transformer takes.

    Raises
    ------
    ValueError
        If it does not say so, as those that take a list of texts.
    """
    count = getattr(step, "n_features_in_", None)
    if count is None:
        raise ValueError(
            f"The step {name!r} of this Pipeline, {step!r}, does not state how many columns it takes (n_features_in_). "
            "fasthdmr.HDMR(pipe) decomposes any fitted model."
        )
    return int(count)


def sources_of_steps(steps: Sequence[tuple[str, Any]], n_inputs: int, n_outputs: int | None) -> Sources:
    """Return the sources of transformers that are applied one after the other.

    Parameters
    ----------
    steps : sequence of (str, transformer)
    n_inputs : int
        Number of columns that the first one takes.
    n_outputs : int or None
        Number of columns that the last one returns; None: not known.

    Raises
    ------
    ValueError
        If a transformer computes outputs from several columns, or is not known.
    """
    sources = list(range(n_inputs))
    following = [getattr(step, "n_features_in_", None) for _, step in steps[1:]]
    for (name, step), count in zip(steps, [*following, n_outputs], strict=True):
        sources = [sources[j] for j in sources_of(name, step, len(sources), count)]
    return sources


def sources_of(name: str, step: Any, n_inputs: int, n_outputs: int | None) -> Sources:
    """Return for each output of a fitted transformer the position of the input that it is a function of.

    Parameters
    ----------
    name : str
        The name of the step in errors.
    step : fitted transformer, "passthrough" or None
    n_inputs : int
    n_outputs : int or None
        None: not known.

    Raises
    ------
    ValueError
        If the transformer computes outputs from several columns, or is not known.
    """
    if is_identity(step):
        return list(range(n_inputs))
    check_is_fitted(step)
    sources = _known_sources(name, step, n_inputs)
    if sources is None and n_inputs == 1:  # whatever it computes is a function of this column
        sources = [0] * (len(step.get_feature_names_out()) if n_outputs is None else n_outputs)
    if sources is None:
        raise ValueError(
            f"The step {name!r} of this Pipeline, {step!r}, may compute an output from several columns, so the model "
            f"is no sum of trees in the variables of X. Each output of {_KNOWN} is a function of one column, and of a "
            "FunctionTransformer with feature_names_out='one-to-one'. Decompose the last step on the transformed rows: "
            "pipe[-1] on pipe[:-1].transform(X); or the whole pipeline with fasthdmr.HDMR(pipe)."
        )
    if n_outputs is not None and len(sources) != n_outputs:
        raise ValueError(
            f"The step {name!r} of this Pipeline, {step!r}, returned {n_outputs} columns when it was fitted, but its "
            f"attributes say {len(sources)}. fasthdmr.HDMR(pipe) decomposes any fitted model."
        )
    return sources


def _known_sources(name: str, step: Any, n_inputs: int) -> Sources | None:
    """Return the sources of a transformer whose outputs are known to be functions of one column; else None."""
    if isinstance(step, FrozenEstimator):
        return _known_sources(name, step.estimator, n_inputs)
    if isinstance(step, Pipeline):
        return sources_of_steps(step.steps, n_inputs, None)
    if isinstance(step, ColumnTransformer):
        return _of_column_transformer(step)
    if isinstance(step, FeatureUnion):
        parts = [(part, fitted) for part, fitted in step.transformer_list if not _is_dropped(fitted)]
        return [j for part, fitted in parts for j in sources_of(part, fitted, n_inputs, None)]
    if isinstance(step, SelectorMixin):
        return [int(j) for j in step.get_support(indices=True)]
    for cls in type(step).__mro__:
        if reader := _READERS.get(public_name(cls)):
            return reader(step, n_inputs)
    return None


def _is_dropped(step: Any) -> bool:
    return isinstance(step, str) and step == "drop"


def _of_column_transformer(step: ColumnTransformer) -> Sources:
    parts = []
    for name, transformer, _ in step.transformers_:
        place = step.output_indices_[name]
        if _is_dropped(transformer) or place.stop == place.start:
            continue
        inputs = step._transformer_to_input_indices[name]
        own = sources_of(name, transformer, len(inputs), place.stop - place.start)
        parts.append((place.start, [int(inputs[j]) for j in own]))
    return [j for _, sources in sorted(parts) for j in sources]


def _one_to_one(step: Any, n_inputs: int) -> Sources:
    return list(range(n_inputs))


def _of_function(step: Any, n_inputs: int) -> Sources | None:
    declared = isinstance(step.feature_names_out, str) and step.feature_names_out == "one-to-one"
    return list(range(n_inputs)) if step.func is None or declared else None


def _of_imputer(step: Any, n_inputs: int) -> Sources:
    kept = np.ones(n_inputs, dtype=bool)
    if not step.keep_empty_features:
        kept = np.array([value == value for value in step.statistics_])  # not NaN
    indicated = step.indicator_.features_ if step.add_indicator else ()
    return [int(j) for j in (*np.flatnonzero(kept), *indicated)]


def _of_indicator(step: Any, n_inputs: int) -> Sources:
    return [int(j) for j in step.features_]


def _of_one_hot(step: Any, n_inputs: int) -> Sources:
    counts = np.array([len(levels) for levels in step.categories_])
    if step.drop_idx_ is not None:
        counts -= [dropped is not None for dropped in step.drop_idx_]
    if step.min_frequency is not None or step.max_categories is not None:
        counts -= [0 if rare is None else len(rare) - 1 for rare in step.infrequent_categories_]
    return _repeated(counts)


def _of_target(step: Any, n_inputs: int) -> Sources:
    return _repeated(np.full(n_inputs, len(step.classes_) if step.target_type_ == "multiclass" else 1))


def _of_bins(step: Any, n_inputs: int) -> Sources:
    return _repeated(np.ones(n_inputs, dtype=int) if step.encode == "ordinal" else step.n_bins_)


def _of_splines(step: Any, n_inputs: int) -> Sources:
    return _repeated(np.full(n_inputs, step.n_features_out_ // n_inputs))


def _repeated(counts: Any) -> Sources:
    return [j for j, count in enumerate(counts) for _ in range(count)]


# Public name of a class -> function of a fitted object and its number of inputs. It also serves subclasses.
_READERS: dict[str, Callable[[Any, int], Sources | None]] = {
    "sklearn.preprocessing.StandardScaler": _one_to_one,
    "sklearn.preprocessing.MinMaxScaler": _one_to_one,
    "sklearn.preprocessing.MaxAbsScaler": _one_to_one,
    "sklearn.preprocessing.RobustScaler": _one_to_one,
    "sklearn.preprocessing.QuantileTransformer": _one_to_one,
    "sklearn.preprocessing.PowerTransformer": _one_to_one,
    "sklearn.preprocessing.Binarizer": _one_to_one,
    "sklearn.preprocessing.OrdinalEncoder": _one_to_one,
    "sklearn.preprocessing.OneHotEncoder": _of_one_hot,
    "sklearn.preprocessing.TargetEncoder": _of_target,
    "sklearn.preprocessing.KBinsDiscretizer": _of_bins,
    "sklearn.preprocessing.SplineTransformer": _of_splines,
    "sklearn.preprocessing.FunctionTransformer": _of_function,
    "sklearn.impute.SimpleImputer": _of_imputer,
    "sklearn.impute.MissingIndicator": _of_indicator,
}
_KNOWN = "scikit-learn's scalers, encoders, SimpleImputer, KBinsDiscretizer, SplineTransformer and selectors"
