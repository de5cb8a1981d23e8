"""Measure how far private estimates are from non-private ones, on data declared public.

Nothing here is a release. References, error bounds and comparisons are computed from the
rows as they are, so they are only for data that are public or synthetic, which the caller
declares with ``public=True``; no result of :func:`dpstats.dp_ols` ever carries them.
"""

from dpstats.evaluate.comparison import compare, overview
from dpstats.evaluate.error_bounds import error_bounds
from dpstats.evaluate.mos import mos
from dpstats.evaluate.predictions import predictions
from dpstats.evaluate.references import mean_reference, ols_reference, theil_sen_reference

__all__ = [
    "compare",
    "error_bounds",
    "mean_reference",
    "mos",
    "ols_reference",
    "overview",
    "predictions",
    "theil_sen_reference",
]
