"""The ten calls for asv: their CPU times on one thread, relative to the reference."""

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[2]))

from bench.workloads import NAMES, ratio_of, reference, workloads


class Calls:
    """A benchmark for each call."""

    params = NAMES
    param_names = ("call",)
    unit = "times the reference"
    timeout = 600
    call: Callable[[], Any]

    def setup(self, name: str) -> None:
        """Make the models of the calls."""
        import fasthdmr

        warnings.simplefilter("ignore")
        self.call = workloads(fasthdmr)[name]

    def track_ratio(self, name: str) -> float:
        """Return the ratio of a call."""
        return ratio_of(self.call, reference())
