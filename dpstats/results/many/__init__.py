"""Hold the fits of groups, and put fits side by side.

A single fit is in ``one``; shrinking groups' estimates is post-processing, not a fit.
"""

from dpstats.results.many.groups import DPGroupResults
from dpstats.results.many.instrument_groups import DPIVGroupResults

__all__ = ["DPGroupResults", "DPIVGroupResults"]
