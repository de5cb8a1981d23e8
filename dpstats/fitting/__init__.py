"""Run the mechanism of a request: on one table, on every group, or on Spark's workers."""

from dpstats.fitting.group_batches import GroupedRows

__all__ = [
    "GroupedRows",
]
