"""Run a call: charge it, select terms, estimate ranges, and fit one regression or groups.

Arguments are checked before, in ``call``; queries and their proofs are the methods' own.
"""

from dpstats.run.group_fits import GroupedRows
from dpstats.run.passes import TablePasses

__all__ = ["GroupedRows", "TablePasses"]
