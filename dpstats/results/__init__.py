"""Hold releases and answer as statsmodels' results do.

Everything follows from released numbers and public facts; no row is reachable from here.
"""

from dpstats.results.description import DPDescription
from dpstats.results.many import DPGroupResults, DPIVGroupResults
from dpstats.results.one import DPIVResults, DPResults

__all__ = [
    "DPDescription",
    "DPGroupResults",
    "DPIVGroupResults",
    "DPIVResults",
    "DPResults",
]
