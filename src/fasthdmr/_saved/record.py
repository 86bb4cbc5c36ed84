"""What is saved of an estimator: its decomposition, how it reads X, its options, and versions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import fields as fields_of
from importlib.metadata import version
from typing import Any

import numpy as np

from fasthdmr._forest.front import Reading
from fasthdmr._results.decomposition import Decomposition
from fasthdmr._saved.archive import Archive, Writer
from fasthdmr._saved.decomposition import read_decomposition, write_decomposition
from fasthdmr._saved.fields import Fields, Refused
from fasthdmr._saved.levels import read_distinct_levels, read_levels, write_levels
from fasthdmr._support.optional import find

_LIBRARIES = ("fasthdmr", "numpy", "scipy", "scikit-learn")
_ABSENT = {"zero": 0.0, "missing": np.nan, "refused": None}


@dataclass(frozen=True)
class Reader(Reading):
    """How a model reads its rows. It stands for the model where rows are converted to numbers."""

    front: None = None


@dataclass(frozen=True, eq=False)
class Record:
    """What is saved of an estimator.

    Attributes
    ----------
    estimator : str
        The name of its class.
    options : dict
        Its parameters, as JSON values.
    versions : dict of str to str
        The versions of the libraries at the fit.
    n_columns : int
        The number of columns of X.
    has_names : bool
        Whether it was fitted to a data frame.
    allow_nan : bool
    outputs_scores : bool
        Whether the black box is a classifier, whose scores cannot be compared with y.
    is_product : bool
        Whether trees read rows under the product measure.
    readers : tuple of Reader
        One for each model of trees.
    dtypes : tuple of (str, tuple or None), or None
        For each column of the fitted data frame of pandas: the name of its dtype, and its categories.
    decomposition : Decomposition
    """

    estimator: str
    options: Mapping[str, Any]
    versions: Mapping[str, str]
    n_columns: int
    has_names: bool
    allow_nan: bool
    outputs_scores: bool
    is_product: bool
    readers: tuple[Reader, ...]
    dtypes: tuple[tuple[str, tuple[Any, ...] | None], ...] | None
    decomposition: Decomposition

    def content(self) -> bytes:
        """Return the file."""
        out = Writer()
        document = {
            "versions": dict(self.versions),
            "estimator": self.estimator,
            "options": dict(self.options),
            "n_columns": self.n_columns,
            "has_names": self.has_names,
            "allow_nan": self.allow_nan,
            "outputs_scores": self.outputs_scores,
            "is_product": self.is_product,
            "readers": [_write_reader(reader) for reader in self.readers],
            "dtypes": None if self.dtypes is None else [_write_dtype(*dtype) for dtype in self.dtypes],
            "decomposition": write_decomposition(self.decomposition, self.n_columns, out),
        }
        return out.content(document)

    @classmethod
    def read(cls, archive: Archive) -> Record:
        """Return the record in a file."""
        fields = archive.document
        n = fields.integer("n_columns", 1)
        options, versions = fields.value("options"), fields.value("versions")
        if not isinstance(options, dict) or not isinstance(versions, dict):
            raise Refused("'options' and 'versions' of its document must be objects")
        dtypes = None if fields.is_null("dtypes") else tuple(_read_dtype(each) for each in fields.objects("dtypes"))
        if dtypes is not None and len(dtypes) != n:
            raise Refused(f"'dtypes' of its document must be {n} types")
        return cls(
            fields.text("estimator"),
            options,
            {str(name): str(value) for name, value in versions.items()},
            n,
            fields.flag("has_names"),
            fields.flag("allow_nan"),
            fields.flag("outputs_scores"),
            fields.flag("is_product"),
            tuple(_read_reader(each, n) for each in fields.objects("readers")),
            dtypes,
            read_decomposition(fields.fields("decomposition"), n, archive),
        )


def versions() -> dict[str, str]:
    """Return the versions of the libraries that a decomposition is computed with."""
    return {name: version(name) for name in _LIBRARIES}


def as_option(value: Any) -> Any:
    """Return a parameter as a JSON value. Models and other objects become the names of their classes.

    Examples
    --------
    >>> as_option((2, np.float64(0.5), dict))
    [2, 0.5, {'class': 'type'}]
    """
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if value is None or isinstance(value, str | bool | int) or (isinstance(value, float) and np.isfinite(value)):
        return value
    if isinstance(value, list | tuple):
        return [as_option(item) for item in value]
    if isinstance(value, dict) and all(isinstance(name, str) for name in value):
        return {name: as_option(item) for name, item in value.items()}
    return {"class": type(value).__name__}


def reader_of(forest: Any) -> Reader:
    """Return how a forest reads its rows."""
    return Reader(**{field.name: getattr(forest, field.name) for field in fields_of(Reading)})


def dtypes_as_text(dtypes: Any) -> tuple[tuple[str, tuple[Any, ...] | None], ...] | None:
    """Return the dtypes of a data frame of pandas as names and categories."""
    if dtypes is None:
        return None
    return tuple((str(dtype.name), tuple(dtype.categories) if dtype.name == "category" else None) for dtype in dtypes)


def dtypes_from_text(dtypes: Any, names: tuple[str, ...]) -> Any:
    """Return dtypes as a Series by column, None without pandas."""
    pandas = find("pandas")
    if dtypes is None or pandas is None:
        return None
    found = [
        pandas.api.types.pandas_dtype(name) if own is None else pandas.CategoricalDtype(own) for name, own in dtypes
    ]
    return pandas.Series(found, index=list(names), dtype=object)


def _write_reader(reader: Reader) -> dict[str, Any]:
    absent = "refused" if reader.absent is None else "missing" if np.isnan(reader.absent) else "zero"
    return {
        "allow_nan": reader.allow_nan,
        "takes_codes": reader.takes_codes,
        "levels": None if reader.levels is None else [write_levels(levels) for levels in reader.levels],
        "refuses_unseen": reader.refuses_unseen,
        "absent": absent,
        "text_levels": [{"column": j, "levels": write_levels(levels)} for j, levels in reader.text_levels],
        "hashes_text": reader.hashes_text,
    }


def _read_reader(fields: Fields, n_columns: int) -> Reader:
    levels = None
    if not fields.is_null("levels"):
        if not isinstance(fields.value("levels"), list):
            raise Refused(f"'levels' of {fields.where} must be a list")
        levels = tuple(read_levels(each, fields.where) for each in fields.value("levels"))
    if (absent := fields.text("absent")) not in _ABSENT:
        raise Refused(f"'absent' of {fields.where} must be one of {', '.join(_ABSENT)}")
    text_levels = tuple(
        (each.integer("column", 0, n_columns - 1), read_levels(each.value("levels"), each.where))
        for each in fields.objects("text_levels")
    )
    return Reader(
        fields.flag("allow_nan"),
        fields.flag("takes_codes"),
        levels,
        fields.flag("refuses_unseen"),
        _ABSENT[absent],
        text_levels,
        fields.flag("hashes_text"),
    )


def _write_dtype(name: str, categories: tuple[Any, ...] | None) -> dict[str, Any]:
    return {"name": name, "categories": None if categories is None else write_levels(categories)}


def _read_dtype(fields: Fields) -> tuple[str, tuple[Any, ...] | None]:
    name, categories = fields.text("name"), None
    if not fields.is_null("categories"):
        categories = read_distinct_levels(fields.value("categories"), fields.where)
    pandas = find("pandas")
    try:
        if pandas is not None and categories is None:
            pandas.api.types.pandas_dtype(name)
    except (TypeError, ValueError):
        raise Refused(f"'name' of {fields.where} is no type of a column") from None
    return name, categories
