"""Build one validated call that fits formulas: formula, table, schema, method and cost.

It holds public facts; passes over rows and noise start in ``run``.
"""

from dpstats.call.first_stage import FirstStage
from dpstats.call.prepared import Prepared
from dpstats.call.request import Request

__all__ = ["FirstStage", "Prepared", "Request"]
