"""How many threads run where, and that results depend on it nowhere."""

import functools
import multiprocessing
import pkgutil
import threading
from contextlib import contextmanager
from functools import partial
from importlib import import_module

import joblib
import numpy as np
import pytest
from models import X, Y, gbr, rf
from threadpoolctl import threadpool_info, threadpool_limits

import fasthdmr
from fasthdmr import HDMR, TreeHDMR, _core, decompose, load_forest
from fasthdmr._support import threads as _threads
from fasthdmr._support.cached import cached_property
from fasthdmr._support.threads import n_threads, one_blas_thread, start_thread

BACKENDS = ["loky", "threading", "multiprocessing"]
MODELS = [gbr(max_depth=2).fit(X, Y), rf().fit(X, Y)]
MANY = np.random.default_rng(0).normal(size=(3000, 4))
ESTIMATORS = {
    "trees": partial(TreeHDMR, MODELS, basis="trees", combine="sum", order=None),
    "ridge": partial(TreeHDMR, MODELS, basis="trees", combine="ridge", order=2),
    "spline": partial(TreeHDMR, MODELS, basis="spline"),
    "bins": partial(TreeHDMR, MODELS, basis="bins"),
    "smooth": partial(TreeHDMR, MODELS, basis="spline", smooth=True),
}
needs_fork = pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning"),
    pytest.mark.filterwarnings("ignore::fasthdmr.ResidualWarning"),  # deep trees have terms of many variables
]


@pytest.fixture
def four_cores(monkeypatch):
    monkeypatch.setattr(joblib, "cpu_count", lambda: 4)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)


@pytest.fixture
def several_blas_threads():
    with threadpool_limits(3, user_api="blas"):
        if set(blas_threads()) != {3}:
            pytest.skip("BLAS cannot have three threads")
        yield


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def fitted(name, n_jobs):
    """Return the numbers of a fit that must not change."""
    hdmr = ESTIMATORS[name](n_jobs=n_jobs).fit(MANY, MANY[:, 0] * MANY[:, 1])
    return hdmr.evaluate(MANY), hdmr.sensitivity_.Sa


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_n_jobs(four_cores, monkeypatch):
    assert [n_threads(n_jobs) for n_jobs in (None, 1, 3, 4, 9)] == [1, 1, 3, 4, 4]
    with joblib.parallel_config(n_jobs=3):
        assert [n_threads(None), n_threads(2)] == [3, 2]
    with pytest.raises(ValueError, match="n_jobs must be None"):
        n_threads(0)
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert [n_threads(n_jobs) for n_jobs in (None, 1, 3)] == [1, 1, 2]


def test_minus_one_is_every_core(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert n_threads(-1) == joblib.cpu_count()


@pytest.mark.parametrize("backend", BACKENDS)
def test_workers_of_joblib_have_one_thread(backend):
    calls = [joblib.delayed(n_threads)(n_jobs) for n_jobs in (None, 2, -1)]
    assert joblib.Parallel(n_jobs=2, backend=backend)(calls) == [1, 1, 1]


@needs_fork
def test_workers_of_a_pool_have_one_thread():
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(n_threads, [None, 2, -1]).get(30) == [1, 1, 1]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_fits_do_not_depend_on_threads(name, four_cores):
    one = fitted(name, 1)
    assert all(same(fitted(name, n_jobs), one) for n_jobs in (2, 3, 4))


def test_predictions_do_not_depend_on_threads(four_cores):
    for model in MODELS:
        forest = load_forest(model)
        for call in (forest.predict, forest.group_features, partial(forest.group_features, by="node")):
            assert all(np.array_equal(call(MANY, n_jobs=n_jobs), call(MANY)) for n_jobs in (2, 3, 4))


@pytest.mark.parametrize("backend", BACKENDS)
def test_fits_in_workers_of_joblib(backend):
    names = ["trees", "spline"]
    calls = [joblib.delayed(fitted)(name, -1) for name in names]
    for name, result in zip(names, joblib.Parallel(n_jobs=2, backend=backend)(calls), strict=True):
        assert same(result, fitted(name, 2))


def exit_code(child):
    """Run a function in a forked child; None if it hangs."""
    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(60)
    code = process.exitcode
    process.kill()
    return code


@needs_fork
def test_a_forked_child_fits_with_threads(four_cores):
    desired = {name: fitted(name, 2) for name in ESTIMATORS}  # threads have run before the fork

    def child():
        if not (n_threads(3) == 3 and all(same(fitted(name, 3), desired[name]) for name in ESTIMATORS)):
            raise SystemExit(5)

    assert exit_code(child) == 0, "the child failed or hung"


def wrap_core(monkeypatch, wrapper):
    """Put a wrapper around everything in the core that runs code of ours on data."""
    functions = [(_core, name) for name in vars(_core) if callable(getattr(_core, name)) and name[0].islower()]
    methods = [
        (kind, name)
        for kind in (_core.TreeColumns, _core.TermSums, _core.SpanGram)
        for name in vars(kind)
        if not name.startswith("_") and callable(getattr(kind, name))
    ]
    for owner, name in functions + methods:
        monkeypatch.setattr(owner, name, wrapper(name, getattr(owner, name)))


NO_LAPACK = {
    "build_config",
    "compared_alike",
    "copy_states",
    "evaluate",
    "find_cells",
    "grown_trees",
    "occupied_cells",
    "value_profiles",
}


def test_blas_has_one_thread_wherever_the_core_may_call_it(several_blas_threads, monkeypatch):
    called = {}

    def wrapper(name, function):
        def call(*args, **kwargs):
            called.setdefault(name, set()).update(blas_threads())
            return function(*args, **kwargs)

        return call

    wrap_core(monkeypatch, wrapper)
    for name in ESTIMATORS:
        fitted(name, 2)
    columns = MANY[:, :2] ** 2
    decompose(columns, [0, 1], y=MANY[:, 0], n_jobs=2).evaluate(columns)
    HDMR(np.sin, n_jobs=2).fit(MANY[:, :1])
    assert {"array_triangle", "merge_triangles", "top_down", "a_and_nu", "triangles"} <= called.keys()
    assert {"tree_sums", "array_sums", "covariance", "project", "solve_positive"} <= called.keys()
    assert {name for name, threads in called.items() if threads != {1}} <= NO_LAPACK
    assert set(blas_threads()) == {3}


class Elsewhere:
    """A context that another thread enters when `begin` is called, and leaves when `end` is."""

    def __init__(self, context):
        self._context, self._inside, self._leave = context, threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self):
        with self._context():
            self._inside.set()
            self._leave.wait(10)

    def begin(self):
        self._thread.start()
        assert self._inside.wait(10)
        return self

    def end(self):
        self._leave.set()
        self._thread.join(10)
        assert not self._thread.is_alive()


@pytest.mark.parametrize("first_out", ["first in", "second in"])
def test_sections_of_two_threads_may_overlap(first_out, several_blas_threads):
    first, second = Elsewhere(one_blas_thread).begin(), Elsewhere(one_blas_thread).begin()
    assert set(blas_threads()) == {1}
    one, other = (first, second) if first_out == "first in" else (second, first)
    one.end()
    assert set(blas_threads()) == {1}
    other.end()
    assert set(blas_threads()) == {3}


def test_sections_may_nest(several_blas_threads):
    with one_blas_thread():
        with one_blas_thread():
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {1}
    assert set(blas_threads()) == {3}


def test_an_exception_ends_a_section(several_blas_threads):
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        1 / 0  # noqa: B018
    assert set(blas_threads()) == {3}


def test_a_limit_of_the_caller_does_not_keep_other_threads_from_a_section(several_blas_threads):
    section = Elsewhere(one_blas_thread).begin()
    assert set(blas_threads()) == {1}
    section.end()
    assert set(blas_threads()) == {3}


def test_a_limit_of_another_thread_does_not_keep_the_caller_from_a_section():
    before = blas_threads()
    limit = Elsewhere(partial(threadpool_limits, 3, user_api="blas")).begin()
    with one_blas_thread():
        assert set(blas_threads()) == {1}
    assert set(blas_threads()) == {3}
    limit.end()
    assert blas_threads() == before


def test_a_limit_that_ends_during_a_section_is_not_set_again():
    before = blas_threads()
    if 1 in before:
        pytest.skip("BLAS has one thread anyhow")
    limit = Elsewhere(partial(threadpool_limits, 3, user_api="blas")).begin()
    with one_blas_thread():
        limit.end()
    assert blas_threads() == before


class PoolOfEachThread(threading.local):
    """A library like MKL, with a separate limit for every thread."""

    internal_api = "mkl"
    num_threads = 3

    def set_num_threads(self, count):
        self.num_threads = count


def test_a_limit_of_each_thread_is_restored_when_that_thread_leaves(monkeypatch):
    library, seen = PoolOfEachThread(), []
    monkeypatch.setattr(_threads, "_blas_libraries", lambda: [library])

    @contextmanager
    def section():
        with one_blas_thread():
            yield
            seen.append(library.num_threads)
        seen.append(library.num_threads)

    with one_blas_thread():
        other = Elsewhere(section).begin()
        assert library.num_threads == 1
    assert library.num_threads == 3
    other.end()
    assert seen == [1, 3]


@needs_fork
@pytest.mark.parametrize("context", [one_blas_thread, lambda: _threads._limit._lock], ids=["in it", "at its start"])
def test_a_child_forked_while_another_thread_is_in_a_section(context, several_blas_threads):
    def child():
        with one_blas_thread():
            limited = set(blas_threads()) == {1}
        if not (limited and set(blas_threads()) == {3}):
            raise SystemExit(5)

    section = Elsewhere(context).begin()
    code = exit_code(child)
    section.end()
    assert code == 0, "the child failed or hung"


class Slow:
    """What takes long in one object, and no time in another."""

    def __init__(self, wait=lambda: None):
        self.wait = wait

    @cached_property
    def value(self):
        self.wait()
        return object()


@needs_fork
def test_a_child_forked_while_another_thread_computes_a_cached_value():
    inside, leave = threading.Event(), threading.Event()
    slow = Slow(lambda: (inside.set(), leave.wait(100)))
    thread = threading.Thread(target=lambda: slow.value)
    thread.start()
    assert inside.wait(10)
    code = exit_code(lambda: Slow().value)
    leave.set()
    thread.join(10)
    assert code == 0, "the child failed or hung"


def test_threads_get_the_value_that_was_there_first():
    met, values = threading.Barrier(3), []
    slow = Slow(lambda: met.wait(10))
    threads = [threading.Thread(target=lambda: values.append(slow.value)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert values == [slow.value] * 3


def test_no_cached_value_is_computed_under_a_lock():
    modules = pkgutil.walk_packages(fasthdmr.__path__, "fasthdmr.")
    classes = {
        kind
        for module in modules
        if not module.name.endswith("__main__")
        for kind in vars(import_module(module.name)).values()
        if isinstance(kind, type) and kind.__module__.startswith("fasthdmr")
    }
    kept = [value for kind in classes for value in vars(kind).values() if isinstance(value, functools.cached_property)]
    assert len(kept) > 10
    assert {type(value) for value in kept} == {cached_property}


def test_threads_run_beside_this_one():
    found = []
    done = threading.Event()
    assert start_thread(lambda: (found.append(threading.get_ident()), done.set()))
    assert done.wait(10) and found[0] != threading.get_ident()


@pytest.mark.usefixtures("no_further_threads")
def test_threads_that_do_not_begin_are_reported():
    assert not start_thread(lambda: None)
