"""Median times of contenders, each in a separate forked process, with interleaved runs."""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import resource
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray]

_WARM_UP = 0.2
_LONG = 1.0  # seconds; runs that take longer depend little on caches, and need no warm-up
_BUDGET = 5.0  # seconds of timed runs of a contender


@dataclass(frozen=True)
class Contender:
    """One row of a table: `run(prepare())` is measured, `prepare` is not.

    Untimed runs precede each timed one, or calls of `before`: what a run costs can depend on what the process did last.
    `summary` turns the result of a run into named arrays, which are compared between contenders. One that has
    a `limit` is slow: it runs once, that run is timed, and it is stopped after so many seconds, `prepare` included.
    """

    name: str
    stage: str
    run: Callable[[Any], Any]
    prepare: Callable[[], Any] = lambda: None
    summary: Callable[[Any], Arrays] = lambda result: {}
    limit: float | None = None
    before: Callable[[Any], Any] | None = None


@dataclass
class Measurement:
    """What a contender did: seconds of timed runs, peak bytes above its input, its summary or its failure."""

    contender: Contender
    seconds: list[float] = field(default_factory=list)
    peak: int = 0
    summary: Arrays = field(default_factory=dict)
    failure: str = ""

    @property
    def median(self) -> float:
        """The median of the timed runs, in seconds."""
        return median(self.seconds) if self.seconds else float("nan")


def quietly(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function without warnings: those of other packages are not ours to heed, ours are known here."""

    def silenced(*arguments: Any, **options: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*arguments, **options)

    return silenced


def threads(n_jobs: int) -> str:
    """Return a number of threads in words."""
    return "1 thread" if n_jobs == 1 else f"{n_jobs} threads"


def _status(field_name: str) -> int:
    """Read a size of this process from Linux, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field_name + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"no {field_name} in /proc/self/status")


def _give_back() -> None:
    """Return freed memory to the system, if the C library can. A run that reused it would seem to need none."""
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def peak_above(run: Callable[[], Any]) -> tuple[Any, int]:
    """Return the result of `run` and by how many bytes the resident memory rose above its size before.

    Where Linux lets us reset the high-water mark, this is exact to a page. Elsewhere it is by how much
    ru_maxrss rose, which misses what fits below an earlier peak of the process.
    """
    _give_back()
    try:
        Path("/proc/self/clear_refs").write_text("5")
        before = _status("VmRSS")
        result = run()
        return result, max(0, _status("VmHWM") - before)
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        result = run()
        return result, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * unit


def _warm_up(run: Callable[[], Any]) -> None:
    """Run once, and again until `_WARM_UP` seconds are over."""
    start = time.perf_counter()
    run()
    while time.perf_counter() - start < _WARM_UP:
        run()


def _serve(contender: Contender, pipe: Any) -> None:
    """Run in the child: a first run for the peak and the summary, then at each request warm up and time one run.

    While a child waits for the others, its freed memory may be given back (a virtual machine returns idle pages to its
    host: 40 MB then cost 35 ms instead of 4), and the caches fill with other data. Untimed runs undo that for every
    contender.
    """
    try:
        prepared = contender.prepare()
        before = contender.before or contender.run
        start = time.perf_counter()
        result, peak = peak_above(lambda: contender.run(prepared))
        shortest = time.perf_counter() - start
        pipe.send((shortest, peak, contender.summary(result)))
        del result
        while True:
            pipe.recv()
            if shortest < _LONG:
                _warm_up(lambda: before(prepared))
            start = time.perf_counter()
            contender.run(prepared)
            seconds = time.perf_counter() - start
            shortest = min(shortest, seconds)
            pipe.send(seconds)
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        pipe.send(f"{type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})")


def _ask(pipe: Any, measurement: Measurement) -> Any:
    """Return the child's next answer; a failure is written down and gives None."""
    limit = measurement.contender.limit
    try:
        answer = pipe.recv() if limit is None or pipe.poll(limit) else f"stopped after {limit:g} s"
    except (EOFError, OSError):
        answer = "the process died"
    if isinstance(answer, str):
        measurement.failure = answer
        return None
    return answer


def _start(contender: Contender) -> tuple[Any, Any]:
    """Fork a child for a contender; return it and our end of its pipe."""
    fork = multiprocessing.get_context("fork")
    here, there = fork.Pipe()
    # Not a daemon: joblib grants those one thread only.
    process = fork.Process(target=_serve, args=(contender, there))
    with warnings.catch_warnings():
        # Python warns of threads at a fork; those of BLAS survive it, and no other runs here.
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    there.close()
    return process, here


def measure(contenders: list[Contender], repeats: int, budget: float = _BUDGET) -> list[Measurement]:
    """Run every contender once (peak, summary), then those without a limit `repeats` times in turn.

    A contender whose timed runs have taken longer than `budget` seconds has no more of them, but has at least one;
    tables state the number of timed runs.
    """
    measurements = [Measurement(contender) for contender in contenders]
    children: list[tuple[Any, Any]] = []
    try:
        for measurement in measurements:
            children.append(_start(measurement.contender))
            answer = _ask(children[-1][1], measurement)
            if answer is not None:
                first, measurement.peak, measurement.summary = answer
                if measurement.contender.limit is not None:
                    measurement.seconds.append(first)
            if measurement.contender.limit is not None:
                children[-1][0].terminate()
        for _ in range(repeats):
            for (_, pipe), measurement in zip(children, measurements, strict=True):
                has_time = measurement.contender.limit is None and sum(measurement.seconds) < budget
                if not measurement.failure and has_time:
                    pipe.send("again")
                    seconds = _ask(pipe, measurement)
                    if seconds is not None:
                        measurement.seconds.append(seconds)
    finally:
        for process, pipe in children:
            process.terminate()
            process.join()
            pipe.close()
    return measurements
