"""Estimate ranges of columns privately, from noisy histograms or two noisy quantiles."""
