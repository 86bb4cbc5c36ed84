"""Run an item of the paper: `python -m bench.paper NAME [--trees B] [--repeats R] [--out DIRECTORY] …`."""

from __future__ import annotations

import argparse
from pathlib import Path

from bench.paper import anova, boot, cali, chi, corr, depend, est, orders, rf_claim, scsa_ishi, vi
from bench.paper.options import Options

ITEMS = {
    "scsa_ishi": scsa_ishi.run,
    "cali": cali.run,
    "rf_claim": rf_claim.run,
    "vi": vi.run,
    "corr": corr.corr,
    "corrpd": corr.corrpd,
    "depend": depend.run,
    "anova": anova.run,
    "probrho": orders.probrho,
    "total_si": orders.total_si,
    "polyn": orders.polyn,
    "polyn2": orders.polyn2,
    "linearprob": orders.linearprob,
    "boot": boot.run,
    "boot_tp": boot.run,
    "est": est.run,
    "chi": chi.run,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.paper", description=__doc__)
    parser.add_argument("name", choices=ITEMS)
    parser.add_argument("--realisations", type=int, default=3, help="random samples of Ishigami (default: 3)")
    parser.add_argument("--quick", action="store_true", help="a tenth of the trees or runs, a fifth of the sample")
    parser.add_argument("--model", choices=("gbr", "rf"), default="gbr", help="of scsa_ishi (default: gbr)")
    parser.add_argument("--trees", type=int, help="of a GBR in vi, depend (default: 500), boot, boot_tp (300)")
    parser.add_argument("--repeats", type=int, help="fits of vi (default: 10), depend, anova (30), boot, boot_tp (3)")
    parser.add_argument("--out", type=Path, default=Options.out, help="where figures go (default: ./%(default)s)")
    given = parser.parse_args()
    for name in ("realisations", "trees", "repeats"):
        if (number := getattr(given, name)) is not None and number < 1:
            parser.error(f"--{name} must be at least 1")
    options = vars(given)
    ITEMS[options.pop("name")](Options(**options))


if __name__ == "__main__":
    main()
