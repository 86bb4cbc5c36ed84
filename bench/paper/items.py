"""The items of the paper: their titles and the functions that make them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from bench.paper import (
    anova,
    boot,
    cali,
    chi,
    corr,
    depend,
    est,
    housing_figures,
    ishigami_figures,
    orders,
    rf_claim,
    scsa_ishi,
    vi,
)
from bench.paper.options import Options
from bench.paper.result import Result


@dataclass(frozen=True)
class Item:
    """A table or figure of the paper."""

    title: str
    run: Callable[[Options], Result]


ITEMS = {
    "est": Item("Means and variances of χ² and of its HDMR statistic", est.run),
    "chi": Item("Densities of χ², of its HDMR statistic, and of their limits", chi.run),
    "probrho": Item("Share of the variance by order, for a product of 100 variables", orders.probrho),
    "boot": Item("Test error of boosting that learns a product of 10 variables", boot.run),
    "boot_tp": Item("Predicted against true values of the same fits", boot.run),
    "total_si": Item("Total importance of one variable of a product", orders.total_si),
    "polyn": Item("Share of the variance up to an order T, by number of variables", orders.polyn),
    "polyn2": Item("Order that it takes for 90 % of the variance", orders.polyn2),
    "linearprob": Item("Share of the variance by order, for the sum of all products", orders.linearprob),
    "corr": Item("Indices of 1 + x1 + x2 + x1 x2 against the correlation of x1 and x2", corr.corr),
    "vi": Item("Importance by HDMR and by its rivals", vi.run),
    "corrpd": Item("The same against the correlation", corr.corrpd),
    "depend": Item("What x1 does, by HDMR and by partial dependence", depend.run),
    "anova": Item("What x1 does in a kernel machine", anova.run),
    "ishigami12": Item("Ishigami from boosting: f_1 and f_2", ishigami_figures.ishigami12),
    "ishigami3": Item("Ishigami from boosting: f_13", ishigami_figures.ishigami3),
    "scsa_ishi": Item("Ishigami from boosting: indices", scsa_ishi.run),
    "ishigami12_rf": Item("Ishigami from random forests: f_1 and f_2", partial(ishigami_figures.ishigami12, kind="rf")),
    "ishigami3_rf": Item("Ishigami from random forests: f_13", partial(ishigami_figures.ishigami3, kind="rf")),
    "scsa_ishi_rf": Item("Ishigami from random forests: indices", partial(scsa_ishi.run, kind="rf")),
    "rf_claim": Item("Do random forests leak more than boosting, whatever their settings?", rf_claim.run),
    "cali": Item("California housing: indices", cali.run),
    "medinc": Item("California housing: what income does", housing_figures.medinc),
    "lat": Item("California housing: what latitude does", housing_figures.lat),
    "long": Item("California housing: what longitude does", housing_figures.long),
    "ll_hdmr": Item("California housing: interaction of latitude and longitude", housing_figures.ll_hdmr),
    "pd_2d": Item("California housing: partial dependence on latitude and longitude", housing_figures.pd_2d),
}

SAME = {"boot_tp": "boot"}
"""Items that another one makes too."""
