"""Declare the columns of a data set once, for all of its regressions.

What one formula makes of them is a ``ModelSchema``, and no value is read.
"""

from dpstats.codebook.schema import PARTS, Schema
from dpstats.codebook.suggestion import suggest_schema

__all__ = ["PARTS", "Schema", "suggest_schema"]
