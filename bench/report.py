"""Aligned plain tables, and a line with the machine and its load during the measurement."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import scipy
import sklearn


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table whose first two columns are aligned to the left and the others to the right."""
    lines = [list(header), *map(list, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    lines.insert(1, ["-" * width for width in widths])
    align = [str.ljust, str.ljust, *[str.rjust] * len(header)]
    cells = [[align[i](cell, widths[i]) for i, cell in enumerate(line)] for line in lines]
    return "\n".join("  ".join(line).rstrip() for line in cells)


def relative_error(actual: np.ndarray, desired: np.ndarray) -> float:
    """Largest absolute difference over the scale of the desired values; infinite if the shapes differ."""
    if actual.shape != desired.shape:
        return float("inf")
    return float(np.abs(actual - desired).max() / np.abs(desired).max())


def _processor() -> str:
    """Return the name of the processor, if the system has it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def machine() -> str:
    """Return one line on processor, cores and versions."""
    versions = f"Python {platform.python_version()}, NumPy {np.__version__}, SciPy {scipy.__version__}"
    load = f"load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "load unknown"
    return f"{_processor()}, {os.cpu_count()} cores, {load}; {versions}, scikit-learn {sklearn.__version__}"
