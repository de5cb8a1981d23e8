"""Decide which rows a call uses, what each counts for, and which group it is in.

Each row decides for itself; how tables are read is in ``engines``, and no query is here.
"""

from dpstats.rows.held import Held
from dpstats.rows.in_use import RowReader, RowsInUse
from dpstats.rows.offset import Offset
from dpstats.rows.privacy_unit import PrivacyUnit
from dpstats.rows.subset import Subset
from dpstats.rows.weights import Weights

__all__ = ["Held", "Offset", "PrivacyUnit", "RowReader", "RowsInUse", "Subset", "Weights"]
