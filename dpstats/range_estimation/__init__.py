"""Estimate ranges of columns privately, from noisy histograms or two noisy quantiles."""

from dpstats.range_estimation.marginal import LEAST_SD, Marginal

__all__ = ["LEAST_SD", "Marginal"]
