"""Run an item of the paper: `python -m bench.paper NAME [--realisations R] [--quick] [--model gbr|rf]`."""

from __future__ import annotations

import argparse

from bench.paper import cali, rf_claim, scsa_ishi
from bench.paper.options import Options

ITEMS = {"scsa_ishi": scsa_ishi.run, "cali": cali.run, "rf_claim": rf_claim.run}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.paper", description=__doc__)
    parser.add_argument("name", choices=ITEMS)
    parser.add_argument("--realisations", type=int, default=3, help="random samples of Ishigami (default: 3)")
    parser.add_argument("--quick", action="store_true", help="a tenth of the trees, a fifth of the sample")
    parser.add_argument("--model", choices=("gbr", "rf"), default="gbr", help="of scsa_ishi (default: gbr)")
    given = parser.parse_args()
    if given.realisations < 1:
        parser.error("--realisations must be at least 1")
    ITEMS[given.name](Options(realisations=given.realisations, quick=given.quick, model=given.model))


if __name__ == "__main__":
    main()
