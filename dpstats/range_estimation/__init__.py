"""Estimate ranges of columns privately, from noisy histograms or two noisy quantiles."""

from dpstats.range_estimation.marginal import Marginal

__all__ = ["Marginal"]
