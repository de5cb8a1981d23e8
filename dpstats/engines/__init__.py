"""Read rows wherever they are: data frames in memory, files and queries in batches, Spark.

``open_table`` opens what a call is given; what tables are made of is in the folders. Which rows
count and what is computed from them is decided elsewhere.
"""

from dpstats.engines.streams import Described
from dpstats.engines.tables import AnyTable, RemoteTable, Source, Table, is_remote
from dpstats.engines.units import UnitTable

__all__ = [
    "AnyTable",
    "Described",
    "RemoteTable",
    "Source",
    "Table",
    "UnitTable",
    "is_remote",
]
