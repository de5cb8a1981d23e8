"""Read rows wherever they are: data frames in memory, files and queries in batches, Spark.

Which rows count and what is computed from them is decided elsewhere.
"""

from dpstats.engines.protocol import AnyTable, RemoteTable, is_remote
from dpstats.engines.source import Source
from dpstats.engines.stream import Described
from dpstats.engines.table import Table
from dpstats.engines.unit_table import UnitTable

__all__ = [
    "AnyTable",
    "Described",
    "RemoteTable",
    "Source",
    "Table",
    "UnitTable",
    "is_remote",
]
