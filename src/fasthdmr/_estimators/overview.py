"""Methods of estimators that show a decomposition as a whole: a summary, and pictures of components."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from fasthdmr._results.decomposition import Decomposition
from fasthdmr._results.summary import Summary, summarise

if TYPE_CHECKING:
    from fasthdmr.plotting import ComponentDisplay


class OverviewMixin:
    """Mixin of estimators, whose `fit` sets `decomposition_`."""

    decomposition_: Decomposition

    def summary(self) -> Summary:
        """Return what to read first: fidelity, the strongest components, the residual, and the warnings of `fit`.

        Returns
        -------
        Summary
            It can be printed, and is a table in notebooks.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.

        Examples
        --------
        >>> import fasthdmr
        >>> X, y = fasthdmr.datasets.make_ishigami(500, random_state=0)
        >>> summary = fasthdmr.HDMR().fit(X, y).summary()
        >>> summary.components[0]["names"].tolist()[:3]
        ['x1', 'x0', 'x0 & x2']
        """
        check_is_fitted(self)
        return summarise(self.decomposition_, type(self).__name__)

    def plot(
        self, subspaces: Sequence[Any] | None = None, *, top: int = 6, output: int | str | None = None, ax: Any = None
    ) -> ComponentDisplay:
        """Draw component functions: curves and bars of one variable, maps of two.

        Parameters
        ----------
        subspaces : sequence of int, str, or tuple of int or str, optional
            The subspaces, by indices or names. By default, the strongest components that can be drawn.
        top : int, default=6
            Without `subspaces`, the largest number of components.
        output : int or str, optional
            Index or name of the output. Required if there are several outputs.
        ax : matplotlib Axes or array of Axes, optional
            One for each component; a single one is divided among several. By default, those of a new figure.

        Returns
        -------
        display : fasthdmr.plotting.ComponentDisplay

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If a subspace has no component or one of order 3 or more, or the output does not exist.
        ImportError
            If matplotlib is not installed (extra ``plot``).
        """
        check_is_fitted(self)
        from fasthdmr.plotting import ComponentDisplay

        chosen: Any = subspaces
        options: dict[str, Any] = {"top": top} if chosen is None else {}
        return ComponentDisplay.from_estimator(self, chosen, output=output, ax=ax, **options)
