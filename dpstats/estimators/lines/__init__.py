"""Fit an intercept and one slope, by sums, pairs of rows or gradients.

Methods for any number of regressors stand in the other families.
"""

from dpstats.estimators.lines.simple_regression import Line

__all__ = ["Line"]
