"""Run an item of the paper: `python -m bench.paper NAME [OPTIONS]`."""

from __future__ import annotations

import argparse
from pathlib import Path

from bench.models import cache_directory
from bench.paper import cali, chi, est, rf_claim, scsa_ishi
from bench.paper.options import Options

ITEMS = {"scsa_ishi": scsa_ishi.run, "cali": cali.run, "rf_claim": rf_claim.run, "est": est.run, "chi": chi.run}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.paper", description=__doc__)
    parser.add_argument("name", choices=ITEMS)
    parser.add_argument("--realisations", type=int, default=3, help="random samples of Ishigami (default: 3)")
    parser.add_argument("--quick", action="store_true", help="a tenth of the trees or runs, a fifth of the sample")
    parser.add_argument("--model", choices=("gbr", "rf"), default="gbr", help="of scsa_ishi (default: gbr)")
    parser.add_argument("--out", type=Path, default=cache_directory(), help="where pictures go (default: the cache)")
    given = parser.parse_args()
    if given.realisations < 1:
        parser.error("--realisations must be at least 1")
    options = Options(realisations=given.realisations, quick=given.quick, model=given.model, out=given.out)
    ITEMS[given.name](options)


if __name__ == "__main__":
    main()
