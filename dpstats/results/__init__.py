"""Hold releases and answer as statsmodels' results do."""

from dpstats.results.groups import DPGroupResults
from dpstats.results.single import DPResults

__all__ = [
    "DPGroupResults",
    "DPResults",
]
