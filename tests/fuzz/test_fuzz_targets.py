"""The fuzz targets accept their seeds, and refuse damaged ones as they should."""

import numpy as np
import pytest
from fuzz_targets import TARGETS, call, in_member

pytest.importorskip("pandas", reason="reads CSV files")


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.filterwarnings("ignore")
def test_seeds_are_accepted(name):
    target, seeds = TARGETS[name]
    for content in seeds():
        target(content)


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.filterwarnings("ignore")
def test_changed_seeds_are_read_or_refused(name):
    target, seeds = TARGETS[name]
    random = np.random.default_rng(0)

    def changed(content):
        data = bytearray(content)
        for place in random.integers(0, max(1, len(data)), 3 if data else 0):
            data[place] = random.choice([data[place] ^ 1, ord("0"), ord(","), 255])
        return bytes(data)

    for content in seeds():
        for _ in range(8):
            call(target, in_member(content, changed, random))
