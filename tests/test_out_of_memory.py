"""Where the system gives no more memory, calls end in a MemoryError or their result; the process lives on.

The core's own test (csrc/tests/test_out_of_memory.cpp) makes every single allocation fail.
"""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a limit of the address space")
def test_no_call_ends_the_process():
    script = Path(__file__).with_name("out_of_memory.py")
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=script.parent, timeout=600)
    lines = run.stdout.splitlines()
    assert run.returncode == 0, run.stderr
    assert len(lines) == 8 + bool(find_spec("numba")) and [line for line in lines if not line.endswith("True")] == []
