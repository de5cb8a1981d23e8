"""Hold one fit, and compute its intervals, tests and error bounds from its release.

Fits of groups are in ``many``, and the statistics themselves in ``inference``.
"""

from dpstats.results.one.instruments import DPIVResults, OfInstruments
from dpstats.results.one.single import DPResults

__all__ = ["DPIVResults", "DPResults", "OfInstruments"]
