"""Build one validated call of dp_ols from its arguments: formula, table, schema, method, cost."""

from dpstats.request.prepared import Prepared
from dpstats.request.request import Request

__all__ = ["Prepared", "Request"]
