"""Build one validated call of dp_ols from its arguments: formula, table, schema, method, cost."""

from dpstats.request.prepared import Prepared
from dpstats.request.request import Request
from dpstats.request.row_subset import Subset
from dpstats.request.row_weights import Weights
from dpstats.request.rows_in_use import RowReader, RowsInUse

__all__ = ["Prepared", "Request", "RowReader", "RowsInUse", "Subset", "Weights"]
