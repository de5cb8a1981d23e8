"""Put the rows of a privacy unit beside one another, and read whole units at a time."""

from dpstats.engines.units.unit_order import UNIT, ordered_by_unit
from dpstats.engines.units.unit_table import (
    PARTS,
    UnitTable,
    check_unit,
    part_total,
    parts_in_memory,
)

__all__ = [
    "PARTS",
    "UNIT",
    "UnitTable",
    "check_unit",
    "ordered_by_unit",
    "part_total",
    "parts_in_memory",
]
