"""Read columns of each library through one interface, and convert them to numbers.

A module per library; ``cells`` converts what declares no type, a cell at a time.
"""

from dpstats.engines.columns.column import Column, Ticks
from dpstats.engines.columns.kinds import KINDS, NUMERIC, UNTYPED, no_levels, no_number
from dpstats.engines.columns.numpy_columns import CategoricalColumn, NumpyColumn
from dpstats.engines.columns.python_columns import PythonColumn
from dpstats.engines.columns.to_columns import columns_of

__all__ = [
    "KINDS",
    "NUMERIC",
    "UNTYPED",
    "CategoricalColumn",
    "Column",
    "NumpyColumn",
    "PythonColumn",
    "Ticks",
    "columns_of",
    "no_levels",
    "no_number",
]
