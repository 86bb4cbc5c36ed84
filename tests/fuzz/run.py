"""Run a fuzz target with atheris: ``python tests/fuzz/run.py TARGET [options of libFuzzer]``."""

import sys
import tempfile
from pathlib import Path

import atheris
import numpy as np


def main(name, options):
    # Modules are imported when they are needed: a first call imports those that the target needs.
    with atheris.instrument_imports(include=["fasthdmr"]):
        from fuzz_targets import TARGETS, call, in_member

        target, seeds = TARGETS[name]
        contents = list(seeds())
        for content in contents:
            call(target, content)

    def mutated_member(content, most, seed):
        return in_member(content, lambda data: atheris.Mutate(data, most), np.random.default_rng(seed))[:most]

    with tempfile.TemporaryDirectory() as corpus:
        for k, content in enumerate(contents):
            (Path(corpus) / str(k)).write_bytes(content)
        atheris.Setup(
            ["fuzz", "-max_len=100000", *options, corpus],
            lambda content: call(target, content),
            **({"custom_mutator": mutated_member} if name == "saved" else {}),
        )
        atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
