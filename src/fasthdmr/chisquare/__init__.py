"""Pearson's chi-square and its HDMR statistic, also for many categories and few observations.

X_1, ..., X_n are independent on k categories with probabilities p, N_c of them in category c. Pearson's statistic is

    chi2 = sum_c (N_c - n p_c)^2 / (n p_c) = (S + U) / n - n,   S = sum_c N_c / p_c,   U = sum_c N_c (N_c - 1) / p_c.

Its exact HDMR has order 2: chi2 = (k - 1) + sum_i f_i + sum_ij f_ij. The f_i are noise due to 1/p: each
depends only on how rare the category of one observation is. The HDMR statistic leaves them out:

    hdmr = chi2 - sum_i f_i = U / n - n + k,

with variance 2 (n - 1) (k - 1) / n for any p.
"""

from fasthdmr.chisquare.exact_moments import Moments, moments
from fasthdmr.chisquare.goodness_of_fit import ChiSquareResult, test
from fasthdmr.chisquare.probabilities import power_law
from fasthdmr.chisquare.simulation import Simulation, simulate

__all__ = ["ChiSquareResult", "Moments", "Simulation", "moments", "power_law", "simulate", "test"]
