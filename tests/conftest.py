import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache directory of the benchmarks' own for every test that uses it."""
    monkeypatch.setenv("FASTHDMR_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def intervals_without_bias(monkeypatch):
    """Half-widths of intervals are 1.96 standard errors, or Student's quantiles."""
    from fasthdmr._support.indices import INDICES
    from fasthdmr._uncertainty import uncertainty

    monkeypatch.setattr(uncertainty, "bias_of_indices", lambda *arguments: [0.0] * len(INDICES))


def _refuse(run, arguments):
    raise RuntimeError("can't start new thread")


@pytest.fixture(params=[_refuse, lambda run, arguments: 0], ids=["refused", "never begun"])
def no_further_threads(request, monkeypatch):
    """The system starts no threads of Python, or it starts them without the memory to begin."""
    from fasthdmr._support import threads

    monkeypatch.setattr(threads, "_thread", SimpleNamespace(start_new_thread=request.param))
    monkeypatch.setattr(threads, "_LONGEST_START", 0.01)
