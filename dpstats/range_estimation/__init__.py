"""Estimate ranges of columns privately, from noisy histograms or two noisy quantiles.

What a fit makes of the ranges is decided in ``run``.
"""

from dpstats.range_estimation.bins import Distances
from dpstats.range_estimation.excess import Tail
from dpstats.range_estimation.histogram import Histogram
from dpstats.range_estimation.long_tails import LongTails
from dpstats.range_estimation.marginal import LEAST_SD, Marginal

__all__ = ["LEAST_SD", "Distances", "Histogram", "LongTails", "Marginal", "Tail"]
