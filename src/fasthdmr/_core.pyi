from collections.abc import Sequence
from mmap import mmap
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]

class Forest:
    def __init__(
        self,
        *,
        n_features: int,
        n_outputs: int,
        tree_offsets: _Integers,
        left: _Integers,
        right: _Integers,
        feature: _Integers,
        threshold: _Floats,
        missing_left: NDArray[np.uint8],
        value: _Floats,
        tree_output: _Integers,
        offset: _Floats,
        weight: _Floats,
        comparison: Comparison | None = None,
        set: _Integers | None = None,
    ) -> None: ...
    @staticmethod
    def _make(state: tuple[Any, ...]) -> Forest: ...
    @staticmethod
    def in_float64(
        *,
        n_features: int,
        n_outputs: int,
        tree_offsets: _Integers,
        left: _Integers,
        right: _Integers,
        feature: _Integers,
        threshold: _Floats,
        missing_left: NDArray[np.uint8],
        value: _Floats,
        tree_output: _Integers,
        offset: _Floats,
        weight: _Floats,
        replaced: _Floats,
        rounds: bool,
        set: _Integers | None,
        set_offsets: _Integers | None,
        set_intervals: _Floats | None,
    ) -> Forest: ...
    @property
    def comparison(self) -> Comparison: ...
    @property
    def n_trees(self) -> int: ...
    @property
    def n_nodes(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def n_outputs(self) -> int: ...
    @property
    def offset(self) -> _Floats: ...
    def scaled(self, factors: _Floats) -> Forest: ...
    def of_variables(self, variables: Sequence[int], *, first: int) -> Forest: ...
    @property
    def reach(self) -> _Floats: ...
    def groups(self) -> list[tuple[int, tuple[int, ...], _Integers]]: ...
    def __getstate__(self) -> tuple[Any, ...]: ...
    def node_groups(self) -> list[tuple[int, tuple[int, ...]]]: ...

def rows_done() -> int: ...

Comparison = tuple[int, list[_Floats], _Floats, _Integers, list[_Floats], _Integers, int]
"""How a forest compares values: the number of features; the float64 thresholds of each feature (empty: compared in
float32); the replacements (low, high, by); the features of sets of values; the cuts of these sets, each of which is
the union of the intervals (cut 0, cut 1], (cut 2, cut 3], ...; the variables of the features (empty: each is one); the
column of the first feature."""

def float64_thresholds(thresholds: _Floats) -> _Floats: ...
def float32_intervals(values: _Floats) -> _Floats: ...
def compared_alike(forests: list[Forest]) -> list[Forest]: ...
def read_document(bytes: bytes | bytearray | mmap) -> tuple[str, dict[str, Any], dict[str, Any]]: ...
def read_lightgbm(bytes: bytes | mmap) -> tuple[dict[str, Any], dict[str, str], NDArray[np.bool_]]: ...
def grown_trees(estimators: list[Any]) -> tuple[list[Any], _Integers]: ...
def copy_states(trees: list[Any], node_fields: list[tuple[int, NDArray[Any]]], values: NDArray[np.float64]) -> None: ...

BLOCK_ROWS: int
"""Rows that one thread evaluates together."""

class Evaluator:
    def __init__(self, forest: Forest, n_threads: int, table_bytes: int = ...) -> None: ...
    @property
    def table_bytes(self) -> int: ...
    def evaluate(self, x: NDArray[Any], n_threads: int) -> _Floats: ...

class Prediction(Evaluator): ...
class TreeFeatures(Evaluator): ...
class NodeFeatures(Evaluator): ...

class TreeColumns:
    def __init__(self, parts: list[tuple[Forest, int, str, str]], n_threads: int) -> None: ...
    @property
    def subspaces(self) -> list[tuple[int, ...]]: ...
    @property
    def column_subspace(self) -> _Integers: ...
    @property
    def column_member(self) -> _Integers: ...
    @property
    def constants(self) -> _Floats: ...
    def triangles(
        self,
        x: NDArray[Any],
        *,
        unit: float,
        weight: _Floats | None,
        y: _Floats | None,
        fold: _Integers | None,
        n_folds: int,
        n_threads: int,
    ) -> _Floats: ...
    def evaluate(
        self, x: NDArray[Any], begin: _Integers, column: _Integers, weight: _Floats, n_threads: int
    ) -> _Floats: ...

class Marginals:
    def __init__(self, forests: list[Forest], x: NDArray[Any], *, weight: _Floats | None, n_threads: int) -> None: ...
    @staticmethod
    def _make(state: tuple[Any, ...]) -> Marginals: ...
    def merged(self, other: Marginals) -> Marginals: ...
    def __getstate__(self) -> tuple[Any, ...]: ...

class ProductTrees:
    def __init__(self, forests: list[Forest], output: int, factors: list[_Floats], marginals: Marginals) -> None: ...
    @property
    def mean(self) -> float: ...
    def total_variance(self, known: list[tuple[int, ...]], variances: _Floats, n_threads: int) -> float: ...

class ProductComponents:
    def __init__(
        self,
        trees: ProductTrees,
        order: int,
        chosen: list[tuple[int, ...]] | None,
        n_threads: int,
        table_bytes: int = ...,
    ) -> None: ...
    @property
    def subspaces(self) -> list[tuple[int, ...]]: ...
    @property
    def tables(self) -> int: ...
    def variances(self, n_threads: int) -> _Floats: ...
    def evaluate(
        self, x: NDArray[Any], begin: _Integers, column: _Integers, weight: _Floats, n_threads: int
    ) -> _Floats: ...

def array_triangle(columns: NDArray[Any], *, weight: _Floats | None, y: _Floats | None, n_threads: int) -> _Floats: ...
def merge_triangles(triangles: _Floats) -> _Floats: ...
def least_squares(triangle: _Floats, tolerance: float) -> _Floats: ...
def top_down(
    triangle: _Floats,
    subspaces: list[tuple[int, ...]],
    column_subspace: _Integers,
    beta: _Floats,
    tolerance: float,
    n_threads: int,
) -> dict[str, Any]: ...
def a_and_nu(
    triangle: _Floats,
    subspaces: list[tuple[int, ...]],
    column_subspace: _Integers,
    beta: _Floats,
    tolerance: float,
    n_threads: int,
) -> tuple[_Floats, _Floats]: ...
def triangle(rows: _Floats) -> _Floats: ...
def ridge(columns: _Floats, target: _Floats, penalties: list[float], tolerance: float) -> _Floats: ...
def build_config() -> dict[str, Any]: ...

class Spans:
    def __init__(
        self,
        axes: Sequence[tuple[int, int, list[float], bool, tuple[list[float], list[float]], bool]],
        subspaces: list[tuple[int, ...]],
        axes_of: list[list[int]],
    ) -> None: ...
    @property
    def n_columns(self) -> int: ...
    @property
    def first_columns(self) -> _Integers: ...
    def evaluate(
        self, x: NDArray[Any], begin: _Integers, column: _Integers, weight: _Floats, n_threads: int
    ) -> _Floats: ...

class SpanGram:
    def __init__(
        self,
        sums: TermSums,
        x: NDArray[Any],
        weight: _Floats | None,
        pairs: Literal["inside", "terms", "all"],
        n_threads: int,
    ) -> None: ...
    @staticmethod
    def restored(sums: TermSums, state: tuple[Any, ...]) -> SpanGram: ...
    def state(self) -> tuple[Any, ...]: ...
    def merged(self, other: SpanGram, sums: TermSums) -> SpanGram: ...
    def covariance(self, spans: list[int], n_threads: int) -> _Floats: ...
    def ridge_system(self, spans: list[int], ridge: float) -> RidgeSystem: ...

class RidgeSystem:
    def solve(self, right: _Floats) -> _Floats: ...

class PositiveMatrix:
    def __init__(self, a: _Floats, n_threads: int) -> None: ...
    def solve(self, b: _Floats, n_threads: int) -> _Floats: ...

class TermSums:
    @staticmethod
    def restored(spans: Spans, state: tuple[Any, ...]) -> TermSums: ...
    def state(self) -> tuple[Any, ...]: ...
    def merged(self, other: TermSums) -> TermSums: ...
    @property
    def output_with_columns(self) -> _Floats: ...
    @property
    def output_variance(self) -> _Floats: ...
    def project(
        self,
        gram: SpanGram,
        x: NDArray[Any],
        weight: _Floats | None,
        kept: list[int],
        ridge: float,
        n_threads: int,
    ) -> tuple[_Floats, list[_Floats]]: ...
    def moves(
        self,
        gram: SpanGram,
        x: NDArray[Any],
        *,
        weight: _Floats,
        terms: list[int],
        values: _Floats,
        n_blocks: int,
        factor: _Floats,
        ridge: float,
        n_threads: int,
    ) -> _Floats: ...
    def top_down(
        self, gram: SpanGram, coefficients: _Floats, kept: list[list[int]], ridge: float, n_threads: int
    ) -> list[dict[str, Any]]: ...

def tree_sums(
    spans: Spans,
    x: NDArray[Any],
    *,
    weight: _Floats | None,
    outputs: list[tuple[TreeColumns, list[float], float]],
    orders: list[list[int]],
    with_outputs: bool,
    with_terms: bool,
    n_threads: int,
) -> TermSums: ...
def array_sums(
    spans: Spans, x: NDArray[Any], *, weight: _Floats | None, values: NDArray[Any], n_threads: int
) -> TermSums: ...
def value_profiles(
    x: NDArray[Any], weight: _Floats | None, step: int, columns: list[int], n_threads: int
) -> list[tuple[_Floats, _Floats, bool]]: ...
def find_cells(axis: tuple[int, list[float], bool, float, float], x: NDArray[Any]) -> _Integers: ...
def occupied_cells(
    axes: list[tuple[int, list[float], bool, float, float]],
    pairs: list[tuple[int, int]],
    x: NDArray[Any],
    weight: _Floats | None,
    n_threads: int,
) -> list[NDArray[np.bool_]]: ...
def solve_positive(a: _Floats, b: _Floats, n_threads: int) -> _Floats: ...
def partial_dependence(
    forest: Forest,
    x: NDArray[Any],
    *,
    weight: _Floats | None,
    axes: list[tuple[int, list[float]]],
    grids: list[list[int]],
    n_threads: int,
) -> list[_Floats]: ...
