"""Finite feature maps of kernels: monomials, cosines and sines, and products of univariate polynomials.

A kernel with b features is K(x, x') = sum_j B_j(x) c_j(x'). So a kernel machine is a linear combination of the feature
columns B_j, and its decomposition is the one of a function in a known basis (spec 6).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement, product
from math import comb, factorial
from typing import Any

import numpy as np
from numpy.polynomial import polynomial
from numpy.typing import NDArray
from scipy.sparse import csc_array

from fasthdmr import _core
from fasthdmr._dictionaries.dictionary import Labels, OwnSpans
from fasthdmr._kernel_machines.machine import Machine, Multiple
from fasthdmr._support.steps import gram
from fasthdmr._support.steps import product as product_of
from fasthdmr._support.subspaces import Subspace, embed
from fasthdmr._support.threads import one_blas_thread
from fasthdmr._support.typing import Floats, Integers
from fasthdmr.kernels import AnovaKernel, FourierKernel

MAX_COLUMNS = 6_000
"""The largest number b of feature columns: the triangle needs O(b²) memory and O(b³) operations."""
_ROWS = 8_192  # the least number of rows of a block
_SPARSE = 1 / 16  # weights with a smaller share of non-zeros are multiplied as a sparse matrix


def count_columns(machine: Machine) -> int:
    """Return the number of feature columns of a machine, including the constant."""
    kernel, m = machine.kernel, len(machine.affine.columns)
    if isinstance(kernel, Multiple):
        degree = kernel.kernel.degree
        waves = isinstance(kernel.kernel, FourierKernel)
        return 2 * comb(m + degree, m) - 1 if waves else int((degree + 1) ** m)
    return comb(len(set(machine.affine.columns.tolist())) + len(kernel) - 1, len(kernel) - 1)


def check_count(machine: Machine) -> None:
    """Raise an error for a machine with too many feature columns, before any column is computed.

    Raises
    ------
    ValueError
        If there are more than `MAX_COLUMNS`. The message states the count and the remedies.
    """
    count = count_columns(machine)
    if count > MAX_COLUMNS:
        raise ValueError(
            f"This kernel on {len(machine.affine.columns)} variables has {count:,} feature columns; at most "
            f"{MAX_COLUMNS:,} are accepted, whatever `order`, since components depend on all of them. Train it on "
            "fewer variables (a selection in its pipeline is supported) or with a lower degree, or truncate before the "
            "decomposition: fasthdmr.HDMR(model, order=2) projects its output on splines of at most two variables."
        )


@dataclass(frozen=True, eq=False)
class Products:
    """Columns that are products of factors, computed by recursion: column = parent column times one factor.

    Attributes
    ----------
    words : list of tuple of int, length b
        The factors of each column. The constant, the empty product, is not listed.
    labels : Labels
        The subspace of each column.
    parent : ndarray of shape (b,), int64
        The number of the parent column: 0 is the constant, j > 0 the column of ``words[j - 1]``.
    factor : ndarray of shape (b,), int64
        The factor that the parent is multiplied by.
    """

    words: list[tuple[int, ...]]
    labels: Labels
    parent: Integers
    factor: Integers

    @classmethod
    def of(cls, words: Iterable[tuple[int, ...]], owner: Sequence[int]) -> Products:
        """Sort products by the variables of their factors, `owner`. The prefixes of a product must be among `words`.

        Examples
        --------
        >>> products = Products.of([(0,), (1,), (0, 0), (0, 1)], owner=[0, 2])
        >>> products.words, products.labels.subspaces
        ([(0,), (0, 0), (1,), (0, 1)], [(0,), (2,), (0, 2)])
        """
        known: list[tuple[int, Subspace, int, tuple[int, ...]]] = []
        for word in words:
            u = tuple(sorted({owner[k] for k in word}))
            known.append((len(u), u, len(word), word))
        known.sort()
        subspaces = list(dict.fromkeys(u for _, u, _, _ in known))
        number = {u: s for s, u in enumerate(subspaces)}
        ordered = [word for *_, word in known]
        column = {(): 0} | {word: j for j, word in enumerate(ordered, 1)}
        return cls(
            ordered,
            Labels(subspaces, np.array([number[u] for _, u, _, _ in known], dtype=np.int64)),
            np.array([column[word[:-1]] for word in ordered], dtype=np.int64),
            np.array([word[-1] for word in ordered], dtype=np.int64),
        )

    def __call__(self, factors: NDArray[Any], wanted: Integers | None = None) -> NDArray[Any]:
        """Return the columns (1, B), (N, 1 + b), from the values of the factors, (N, F).

        If `wanted` is given, only these columns and their parents are computed; the others are not initialised.
        """
        needed = np.ones(len(self.words) + 1, dtype=bool)
        if wanted is not None and len(wanted) < len(needed):
            needed[:] = False
            needed[wanted] = True
            for j in range(len(self.words), 0, -1):
                needed[self.parent[j - 1]] |= needed[j]
        columns = np.empty((len(factors), len(needed)), dtype=factors.dtype, order="F")
        columns[:, 0] = 1
        factors = np.asfortranarray(factors)
        for j in np.flatnonzero(needed[1:]).tolist():
            np.multiply(columns[:, self.parent[j]], factors[:, self.factor[j]], out=columns[:, j + 1])
        return columns


class KernelDictionary(OwnSpans):
    """The feature columns (1, B) of a kernel: K(x, x') = sum_j B_j(x) c_j(x').

    Parameters
    ----------
    products : Products
    n_features : int
    """

    def __init__(self, products: Products, n_features: int) -> None:
        self.products = products
        self.n_features = n_features

    def labels(self, output: int = 0) -> Labels:
        """Return the labels of the columns; they are the same for all outputs."""
        return self.products.labels

    @property
    def n_columns(self) -> int:
        """The number of columns, including the constant."""
        return len(self.labels().column_subspace) + 1

    @abstractmethod
    def columns(self, rows: NDArray[Any], wanted: Integers | None = None) -> Floats:
        """Return (1, B) at rows, (N, 1 + b). If `wanted` is given, the other columns are not initialised."""

    @abstractmethod
    def kernel(self, points: Floats) -> Floats:
        """Return the coefficients of K(·, p) for each point p, (S, 1 + b). Points are arguments t(x) of the kernel."""

    def coefficients(self, machine: Machine) -> Floats:
        """Return the coefficients beta of the machine's outputs over (1, B), (1 + b, K)."""
        beta = np.zeros((self.n_columns, machine.coef.shape[1]))
        beta[0] = machine.intercept
        with one_blas_thread():
            for part in blocks(len(machine.points), self.n_columns):
                beta += gram(self.kernel(machine.points[part]), machine.coef[part])
        return beta

    def triangle(self, rows: NDArray[Any], weights: Floats | None, n_threads: int) -> Floats:
        """Return R of the QR decomposition of the columns (1, B) at rows, with weights normalised to sum 1."""
        triangle: Floats | None = None
        with one_blas_thread():
            for part in blocks(len(rows), self.n_columns):
                own = None if weights is None else weights[part]
                columns = self.columns(rows[part])[:, 1:]
                new = _core.array_triangle(columns, weight=own, y=None, n_threads=n_threads)[0]
                triangle = new if triangle is None else _core.merge_triangles(np.stack([triangle, new]))
        total = float(len(rows)) if weights is None else float(weights.sum())
        result: Floats = np.asarray(triangle) / np.sqrt(total)
        return result

    def evaluate(self, rows: Any, output: int, weights: csc_array, n_threads: int) -> Floats:
        """Return the product of the columns (1, B) at the rows and the weights, (N, C)."""
        wanted = np.unique(weights.indices).astype(np.int64)
        used = weights.tocsr()[wanted]
        factor: Any = used.toarray() if used.nnz > _SPARSE * np.prod(used.shape) else used.tocsc()
        result = np.empty((len(rows), weights.shape[1]))
        with one_blas_thread():
            for part in blocks(len(rows), len(wanted)):
                columns = self.columns(rows[part], wanted)
                result[part] = product_of(columns if len(wanted) == self.n_columns else columns[:, wanted], factor)
        return result

    def embed(self, subspace: Subspace, values: Floats) -> Floats:
        """Return rows with the given values of the variables in `subspace`; the other variables are set to 0."""
        return embed(subspace, values, self.n_features)


class Monomials(KernelDictionary):
    """Monomials of the centred and scaled variables: the features of polynomial kernels k(t·t').

    Parameters
    ----------
    machine : Machine
    centre, scale : ndarray of shape (n,)
        Centre and scale of the variables of X. In exact arithmetic no component depends on them. They keep the columns
        well conditioned.

    Notes
    -----
    In the centred and scaled variables v the inner product is t(x)·t' = e + z·v. By Taylor's theorem, the coefficient
    of v^alpha in k(t·t') is z^alpha / alpha! times the derivative of k of order |alpha| at e. All monomials up to the
    degree of k are columns, also those with coefficient 0 in the kernel, since together they span the function spaces
    on which components are projected.
    """

    def __init__(self, machine: Machine, centre: Floats, scale: Floats) -> None:
        self.affine, self.powers = machine.affine, np.asarray(machine.kernel)
        self.used = np.unique(machine.affine.columns)
        self.centre, self.scale = centre, scale
        degree = max(1, len(self.powers) - 1)
        n = len(self.used)
        words = (word for k in range(1, degree + 1) for word in combinations_with_replacement(range(n), k))
        super().__init__(Products.of(words, machine.variables(self.used)), machine.n_features)

    def columns(self, rows: NDArray[Any], wanted: Integers | None = None) -> Floats:
        """Return the constant and the monomials at rows, (N, 1 + b)."""
        used = self.used
        return self.products((rows[:, used] - self.centre[used]) / self.scale[used], wanted)

    def kernel(self, points: Floats) -> Floats:
        """Return the Taylor coefficients of K(·, p) for each point p, (S, 1 + b)."""
        lengths = np.array([0, *map(len, self.products.words)])
        gradient = self.affine.gradient(points, self.n_features) * self.scale
        at = points @ self.affine(self.centre[None])[0]
        derivatives = [self.powers]
        for _ in range(lengths.max()):
            derivatives.append(polynomial.polyder(derivatives[-1]))
        values = np.column_stack([polynomial.polyval(at, d) for d in derivatives])
        result = self.products(gradient[:, self.used])
        result *= values[:, lengths]
        result /= [1.0, *(_repeats(word) for word in self.products.words)]
        return result


class Waves(KernelDictionary):
    """Cosines and sines of 2 pi <alpha, t>: the features of a multiple of the Fourier kernel.

    Parameters
    ----------
    machine : Machine
    """

    def __init__(self, machine: Machine) -> None:
        assert isinstance(machine.kernel, Multiple) and isinstance(machine.kernel.kernel, FourierKernel)
        self.form, kernel = machine.kernel, machine.kernel.kernel
        self.affine = machine.affine
        m = len(machine.affine.columns)
        words = (word for k in range(1, kernel.degree + 1) for word in combinations_with_replacement(range(m), k))
        super().__init__(Products.of(words, machine.variables(machine.affine.columns)), machine.n_features)
        d = kernel.degree
        self.weights = np.array(
            [
                factorial(d)
                / factorial(d - len(w))
                / _repeats(w)
                * kernel.coef0 ** (d - len(w))
                * kernel.gamma ** len(w)
                for w in [(), *self.products.words]
            ]
        )
        self.weights *= machine.kernel.factor
        self.weights[0] += machine.kernel.constant

    def labels(self, output: int = 0) -> Labels:
        """Return the labels of the columns; each product gives two, a cosine and a sine."""
        given = self.products.labels
        return Labels(given.subspaces, np.repeat(given.column_subspace, 2))

    def columns(self, rows: NDArray[Any], wanted: Integers | None = None) -> Floats:
        """Return the constant, and the cosine and the sine for each alpha, at rows."""
        return self._waves(self.affine(np.asarray(rows, dtype=np.float64)), wanted)

    def kernel(self, points: Floats) -> Floats:
        """Return weights times columns at points, since cos(a - b) = cos a cos b + sin a sin b."""
        result: Floats = self._waves(points, None) * np.concatenate([self.weights[:1], np.repeat(self.weights[1:], 2)])
        return result

    def _waves(self, points: Floats, wanted: Integers | None) -> Floats:
        waves = self.products(np.exp(2j * np.pi * points), None if wanted is None else np.unique((wanted + 1) // 2))
        columns = np.empty((len(points), self.n_columns), order="F")
        columns[:, 0] = 1
        columns[:, 1::2], columns[:, 2::2] = waves[:, 1:].real, waves[:, 1:].imag
        return columns


class CentredPowers(KernelDictionary):
    """Products of centred powers of different variables: the features of a multiple of the ANOVA kernel.

    Parameters
    ----------
    machine : Machine
    """

    def __init__(self, machine: Machine) -> None:
        assert isinstance(machine.kernel, Multiple) and isinstance(machine.kernel.kernel, AnovaKernel)
        self.form = machine.kernel
        self.affine, self.anova = machine.affine, machine.kernel.kernel
        m, d = len(machine.affine.columns), self.anova.degree
        words = (
            tuple(i * d + a for i, a in zip(variables, powers, strict=True))
            for k in range(1, m + 1)
            for variables in combinations(range(m), k)
            for powers in product(range(d), repeat=k)
        )
        super().__init__(
            Products.of(words, machine.variables(np.repeat(machine.affine.columns, d))), machine.n_features
        )
        self.weights = machine.kernel.factor * self.products(np.tile(self.anova.weights, m)[None])
        self.weights[:, 0] += machine.kernel.constant

    def columns(self, rows: NDArray[Any], wanted: Integers | None = None) -> Floats:
        """Return the constant and the products at rows."""
        return self._products(self.affine(np.asarray(rows, dtype=np.float64)), wanted)

    def kernel(self, points: Floats) -> Floats:
        """Return the columns at points times products of binomial coefficients, (S, 1 + b)."""
        result: Floats = self._products(points, None) * self.weights
        return result

    def _products(self, points: Floats, wanted: Integers | None) -> Floats:
        return self.products(self.anova.powers(points).reshape(len(points), -1), wanted)


def make_dictionary(machine: Machine, centre: Floats, scale: Floats) -> KernelDictionary:
    """Return the feature columns of a machine's kernel. Only monomials use the centre and the scale."""
    if isinstance(machine.kernel, Multiple):
        return Waves(machine) if isinstance(machine.kernel.kernel, FourierKernel) else CentredPowers(machine)
    return Monomials(machine, centre, scale)


def blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Cut rows into blocks of at least twice as many rows as columns, so that merging triangles costs less than QR."""
    size = max(_ROWS, 2 * n_columns)
    return (slice(start, start + size) for start in range(0, n_rows, size))


def _repeats(word: tuple[int, ...]) -> int:
    """Return alpha! of the monomial x^alpha with these factors."""
    result = 1
    for before, k in enumerate(word):
        result *= word[:before].count(k) + 1
    return result
