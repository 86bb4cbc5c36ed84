"""Decompositions that were read from files."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags

from fasthdmr._data.encoding import Encoding
from fasthdmr._estimators.base import BaseHDMR
from fasthdmr._estimators.decompose import ColumnDecomposition
from fasthdmr._estimators.tree_rows import TreeRows
from fasthdmr._saved.archive import Archive
from fasthdmr._saved.columns import DECOMPOSE, read_columns
from fasthdmr._saved.dictionaries import has_black_box, keeps_trees
from fasthdmr._saved.fields import Refused
from fasthdmr._saved.files import read_file
from fasthdmr._saved.record import Record, dtypes_from_text


class SavedHDMR(BaseHDMR):
    """A decomposition that was read from a file by `fasthdmr.load_decomposition`.

    It has the methods and attributes of the estimator that was saved, but no model. It cannot be fitted, and clones are
    itself. `residual` and `fidelity` work if the black box is in the file: kernel machines, and trees whose terms are
    in the components.

    Parameters
    ----------
    record : Record
        What was saved.
    n_jobs : int or None
        Number of threads; None means 1. Results do not depend on it.

    Attributes
    ----------
    subspaces_, components_, intercept_, sensitivity_, residual_, feature_names_, decomposition_
        As for `TreeHDMR`.
    alpha_ : float, ndarray of shape (K,), or None
        The penalty of the ridge regression of several models, if there was one.
    saved_class_ : str
        The name of the class of the estimator.
    options_ : dict
        Its parameters. Models are given by the names of their classes.
    versions_ : dict of str to str
        The versions of fasthdmr, numpy, scipy and scikit-learn that fitted it.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    """

    def __init__(self, record: Any, *, n_jobs: int | None = None) -> None:
        self.record = record
        self.n_jobs = n_jobs
        self._set(record)

    def _set(self, record: Record) -> None:
        decomposition = record.decomposition
        self.decomposition_ = decomposition
        self.feature_names_ = decomposition.feature_names
        self.saved_class_, self.options_ = record.estimator, dict(record.options)
        self.versions_ = dict(record.versions)
        self.n_features_in_ = record.n_columns
        alphas = [solution.alpha for solution in decomposition.solutions]
        self.alpha_ = alphas[0] if len(alphas) == 1 or alphas[0] is None else np.array(alphas)
        self._groups, self._encoding = decomposition.groups, Encoding(decomposition.levels)
        self._outputs_scores = record.outputs_scores
        self._dtypes = dtypes_from_text(record.dtypes, self._column_names)
        if record.has_names:
            self.feature_names_in_ = np.array(self._column_names, dtype=object)

    def fit(self, X: Any = None, y: Any = None, **params: Any) -> Self:
        """Raise an error, because there is no model to decompose.

        Parameters
        ----------
        X, y : object
            Ignored.
        **params
            Ignored.

        Returns
        -------
        self
            Never.

        Raises
        ------
        TypeError
            Always.
        """
        raise TypeError(
            "A loaded decomposition cannot be fitted, because the model is not in the file. Fit "
            f"{self.saved_class_} with the model."
        )

    def _record(self) -> Record:
        record: Record = self.record
        return record

    @property
    def _tree_rows(self) -> TreeRows | None:
        record = self._record()
        if not record.readers:
            return None
        groups = None if record.is_product else self._groups
        readers: Any = record.readers  # they stand for the models
        return TreeRows(readers, self._encoding, groups, record.is_product)

    def _in_numbers(self, X: Any) -> Any:
        rows = self._tree_rows
        return super()._in_numbers(X) if rows is None else rows.variables(X)

    def _rows_from(self, X: Any, codes: NDArray[Any]) -> NDArray[Any]:
        rows = self._tree_rows
        if rows is None or not keeps_trees(self.decomposition_.dictionary):
            return codes
        return rows.rows(codes, rows.inputs(X, codes, allow_nan=self._record().allow_nan))

    @property
    def _has_black_box(self) -> bool:
        return has_black_box(self.decomposition_.dictionary)

    def _finite(self) -> bool | str:
        return "allow-nan" if self._record().allow_nan else True

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_clone__(self) -> Self:
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._record().allow_nan
        tags.target_tags.required = False
        return tags

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        n = len(self.subspaces_)
        return f"SavedHDMR(saved_class_={self.saved_class_!r}, {n} components, {self.n_features_in_} columns)"


def load_decomposition(file: Any) -> SavedHDMR | ColumnDecomposition:
    """Load a decomposition that was saved by an estimator's method `save`.

    The library of the model is not needed. Everything in the file is checked, and nothing in it is executed.

    Parameters
    ----------
    file : str, path-like or binary file object
        The file.

    Returns
    -------
    SavedHDMR or ColumnDecomposition
        An estimator that predicts, transforms, explains and draws as the saved one, to the same bits. For a result of
        `decompose`, that result.

    Raises
    ------
    ValueError
        If it is not such a file, is damaged, or was written by a later version of the format.
    TypeError
        If `file` is neither a path nor a binary file object.
    OSError
        If the file cannot be read.

    See Also
    --------
    fasthdmr.HDMR.save : Write such a file; `TreeHDMR` and `KernelHDMR` have the same method.

    Examples
    --------
    >>> import io
    >>> import fasthdmr
    >>> X, y = fasthdmr.datasets.make_ishigami(500, random_state=0)
    >>> hdmr, file = fasthdmr.HDMR().fit(X, y), io.BytesIO()
    >>> hdmr.save(file)
    >>> loaded = fasthdmr.load_decomposition(io.BytesIO(file.getvalue()))
    >>> loaded
    SavedHDMR(saved_class_='HDMR', 6 components, 3 columns)
    >>> bool((loaded.predict(X) == hdmr.predict(X)).all())
    True
    """
    name, content = read_file(file)
    try:
        archive = Archive(content)
        result = _read(archive)
        archive.finish()
    except (*_DAMAGE, Refused) as error:
        raise ValueError(f"{name} cannot be loaded as a decomposition: {error}.") from None
    return result


_DAMAGE = (ValueError, TypeError, LookupError, ArithmeticError, RuntimeError, MemoryError)
"""Errors that C++ and NumPy raise for parts of a file that do not fit each other."""


def _read(archive: Archive) -> SavedHDMR | ColumnDecomposition:
    if archive.document.text("estimator") == DECOMPOSE:
        decomposition, more = read_columns(archive)
        return ColumnDecomposition(**vars(decomposition), **more)
    record = Record.read(archive)
    loaded = SavedHDMR(record)
    with np.errstate(all="ignore"):
        _try(loaded)
    return loaded


def _try(loaded: SavedHDMR) -> None:
    """Evaluate one row, which raises an error if the parts of the file do not fit each other."""
    decomposition = loaded.decomposition_
    sample = decomposition.sample
    if sample is not None:
        decomposition.predict(sample.rows[:1])
        decomposition.evaluate(sample.rows[:1])
