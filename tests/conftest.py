import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache directory of the benchmarks' own for every test that uses it."""
    monkeypatch.setenv("FASTHDMR_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
