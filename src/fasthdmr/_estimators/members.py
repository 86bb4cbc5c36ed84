"""The tree models that a TreeHDMR explains: made, fitted if they are not, and loaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from fasthdmr._dictionaries.models import check_model_is_fitted
from fasthdmr._forest.forest import Forest
from fasthdmr._support.groups import Groups
from fasthdmr._support.numbers import first_text_column
from fasthdmr._support.progress import progress
from fasthdmr._support.validation import check_model_names, copy_of
from fasthdmr.loaders import load_forest
from fasthdmr.loaders.sums import compared_alike


class Member(NamedTuple):
    """A model, and what is read of it: its forest if it is fitted, else the model itself."""

    model: Any
    read: Any


def default_members(random_state: Any) -> list[Any]:
    """Return the unfitted models of the paper's I_3: gradient boosting of depth 1, 2 and 3."""
    from sklearn.ensemble import GradientBoostingRegressor

    return [GradientBoostingRegressor(max_depth=depth, random_state=random_state) for depth in (1, 2, 3)]


def as_members(estimators: Any, random_state: Any) -> list[Any]:
    """Return the parameter `estimators` as a list of models.

    Examples
    --------
    >>> [member.max_depth for member in as_members(None, 0)]
    [1, 2, 3]
    """
    if estimators is None:
        return default_members(random_state)
    if isinstance(estimators, Sequence) and not isinstance(estimators, str | bytes):
        if len(estimators) == 0:
            raise ValueError("estimators is an empty list. Pass at least one tree model, or None.")
        return list(estimators)
    return [estimators]


def is_fitted(member: Any) -> bool:
    """Return whether a model is fitted. True for objects without `fit`, for which the loader raises the error."""
    if isinstance(member, Forest) or not hasattr(member, "fit"):
        return True
    try:
        check_model_is_fitted(member)
    except NotFittedError:
        return False
    return True


def is_pipeline(member: Any) -> bool:
    """Return whether a model is a Pipeline, or has one, as a search.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> is_pipeline(make_pipeline(DecisionTreeRegressor())), is_pipeline(DecisionTreeRegressor())
    (True, False)
    """
    parts = member.get_params().values() if hasattr(member, "get_params") else ()
    return any(isinstance(part, Pipeline) for part in (member, *parts))


def fit_member(member: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    """Return a fitted clone. It is fitted to copies of the data, which some models overwrite.

    Raises
    ------
    ValueError
        If the model does not take sample weights, or not the levels in X.
    """
    weights = {}
    if sample_weight is not None:
        if not has_fit_parameter(member, "sample_weight"):
            raise ValueError(
                f"sample_weight was passed, but {type(member).__name__}.fit does not take it. Fit the model yourself "
                "and pass it fitted."
            )
        weights = {"sample_weight": sample_weight.copy()}
    try:
        return clone(member).fit(copy_of(X), y.copy(order="K"), **weights)
    except (TypeError, ValueError) as error:
        if (column := first_text_column(X)) is None:
            raise
        raise ValueError(
            f"{type(member).__name__} cannot be fitted to {column}, which holds text or categories: {error} Pass a "
            "Pipeline with an encoder, or a model that takes categories, with such columns of dtype category."
        ) from error


def fit_members(
    members: Sequence[Any], X: Any, numbers: Any, y: Any, sample_weight: Any, *, verbose: int = 0
) -> list[Any]:
    """Return the models, replacing each unfitted one by a fitted clone.

    Pipelines are fitted to X, because they may select columns by name, and other models to the numbers in X.
    """
    return [
        member if is_fitted(member) else fit_member(member, X if is_pipeline(member) else numbers, y, sample_weight)
        for member in progress(members, "fitting models", total=len(members), verbose=verbose)
    ]


def load_members(members: Sequence[Any], n_features: int, feature_names: Sequence[str] | None) -> list[Forest]:
    """Load fitted models, and check that they have the same variables and outputs.

    Parameters
    ----------
    members : sequence of models
    n_features : int
    feature_names : sequence of str or None

    Returns
    -------
    list of Forest
        All of them compare values with thresholds in the same precision and with the same operator.

    Raises
    ------
    ValueError
        If the numbers of features, the numbers of outputs or the feature names differ.
    """
    forests = [load_forest(member) for member in members]
    for forest in forests:
        if forest.n_features != n_features:
            raise ValueError(
                f"X has {n_features} features, but the model is expecting {forest.n_features} features as input."
            )
        if forest.n_outputs != forests[0].n_outputs:
            raise ValueError(
                f"The models have {[f.n_outputs for f in forests]} outputs; all must have the same number."
            )
        check_model_names(feature_names, forest.feature_names)
    return compared_alike(forests)


def variable_names(forests: Sequence[Forest], feature_names: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of the variables: those of X, else those of a model, else "x0", "x1" and so on."""
    for names in (feature_names, *(forest.feature_names for forest in forests)):
        if names is not None:
            return tuple(str(name) for name in names)
    return tuple(f"x{i}" for i in range(forests[0].n_features))


def of_variables(forest: Forest, groups: Groups | None, first: int) -> Forest:
    """Return a forest whose variables are groups of columns, with its first feature in column `first` of the rows."""
    sources = forest.sources
    if groups is not None:
        variable = groups.of_columns()
        sources = tuple(variable[j] for j in sources)
    return replace(forest, core=forest.core.of_variables(sources, first=first))
