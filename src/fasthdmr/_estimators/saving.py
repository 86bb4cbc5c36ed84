"""Saving of estimators to files."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from fasthdmr._results.decomposition import Decomposition
from fasthdmr._results.documents import as_json, decomposition_document
from fasthdmr._saved.files import write_file
from fasthdmr._saved.record import Record, as_option, dtypes_as_text, reader_of, versions


class Saving:
    """The methods of estimators that write a decomposition to a file."""

    decomposition_: Decomposition

    def save(self, file: Any) -> None:
        """Save the decomposition to a file, without the model.

        The file holds the components, the indices with their intervals, a sample of at most 10,000 of the fitted rows
        for plots, names, levels, options and versions. Components that hold terms of trees come with these trees. It
        is a zip file of arrays in NumPy's format and one JSON document, and holds no pickles.

        Parameters
        ----------
        file : str, path-like or binary file object
            An existing file is replaced when the new one is complete.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If components hold terms of trees behind transformers of a pipeline, or a level of a categorical variable
            is of another type than text, finite number, boolean, bytes or interval of numbers.
        OSError
            If the file cannot be written.

        See Also
        --------
        fasthdmr.load_decomposition : Read such a file.

        Examples
        --------
        >>> import io
        >>> import fasthdmr
        >>> X, y = fasthdmr.datasets.make_ishigami(500, random_state=0)
        >>> file = io.BytesIO()
        >>> fasthdmr.HDMR().fit(X, y).save(file)
        >>> _ = file.seek(0)
        >>> fasthdmr.load_decomposition(file).predict(X[:2]).shape
        (2,)
        """
        check_is_fitted(self)
        write_file(file, self._record().content())

    def to_json(self) -> str:
        """Return indices, intervals, names and versions as JSON.

        Returns
        -------
        str
            An object with "estimator", "versions", "feature_names", "output_names", "unit", "f0", "residual",
            "fidelity", and the lists "components" and "variables". With several outputs, each number is a list. Numbers
            that are not finite are null.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.

        Examples
        --------
        >>> import json
        >>> import fasthdmr
        >>> X, y = fasthdmr.datasets.make_ishigami(500, random_state=0)
        >>> document = json.loads(fasthdmr.HDMR().fit(X, y).to_json())
        >>> document["components"][3]["subspace"], document["components"][3]["names"]
        ([0, 1], 'x0 & x1')
        """
        check_is_fitted(self)
        record = self._record()
        head = {"estimator": record.estimator, "versions": record.versions}
        return as_json({**head, **decomposition_document(self.decomposition_)})

    def _record(self) -> Record:
        """Return what is saved."""
        own: Any = self
        return Record(
            type(self).__name__,
            {name: as_option(value) for name, value in own.get_params(deep=False).items()},
            versions(),
            int(own.n_features_in_),
            hasattr(self, "feature_names_in_"),
            bool(own._finite() == "allow-nan"),
            bool(own._outputs_scores),
            bool(getattr(self, "_is_product", False)),
            tuple(reader_of(forest) for forest in getattr(self, "forests_", ())),
            dtypes_as_text(own._dtypes),
            self.decomposition_,
        )
