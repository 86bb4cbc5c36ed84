import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache directory of the benchmarks' own for every test that uses it."""
    monkeypatch.setenv("FASTHDMR_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
