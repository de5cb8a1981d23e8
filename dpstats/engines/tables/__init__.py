"""Hold tables in memory and read them in batches; say what every kind of table can do."""

from dpstats.engines.tables.column_batches import ROWS
from dpstats.engines.tables.protocol import AnyTable, RemoteTable, is_remote
from dpstats.engines.tables.source import Source
from dpstats.engines.tables.table import Table

__all__ = ["ROWS", "AnyTable", "RemoteTable", "Source", "Table", "is_remote"]
