"""Describe a table in public: the possible values of each variable, never its actual values."""

from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpstats.errors import ArgumentError, shown


@dataclass(frozen=True)
class Numeric:
    """Describe a real variable by its public range; values outside are clipped to it."""

    low: float
    high: float

    def __post_init__(self):
        if not (np.isfinite(self.low) and np.isfinite(self.high) and self.low < self.high):
            raise ArgumentError(
                f"expected bounds (low, high) with finite low < high, got ({self.low}, {self.high})"
            )

    def within(self, other: "Numeric") -> bool:
        """Tell whether the range is part of another."""
        return other.low <= self.low and self.high <= other.high


def check_labels(labels, argument: str) -> None:
    """Raise ArgumentError unless these are distinct labels, at least one."""
    if isinstance(labels, str | Set | Mapping | pd.DataFrame) or not isinstance(labels, Collection):
        raise ArgumentError(f"expected {argument} to be a list, got {shown(labels)}")
    try:
        distinct = len(set(labels))
    except TypeError:  # of a list, or a Decimal that signals
        raise ArgumentError(
            f"expected {argument} to list numbers or strings, got {shown(labels)}"
        ) from None
    if not distinct or distinct != len(labels):
        raise ArgumentError(
            f"expected {argument} to name at least one label and none twice, got "
            f"{shown(list(labels))}"
        )


def plain_labels(labels) -> tuple:
    """Return labels as Python objects, whatever library they came from.

    >>> plain_labels([np.int8(3), np.str_("a"), np.datetime64("2020-01-01")])
    (3, 'a', datetime.date(2020, 1, 1))
    """
    return tuple(_plain(label) for label in labels)


def _plain(label):
    """Convert one label of a NumPy type to a Python object."""
    if isinstance(label, np.datetime64) and np.datetime_data(label)[0] != "D":
        return pd.Timestamp(label)  # which a nanosecond's item() is not
    if isinstance(label, np.timedelta64):
        return pd.Timedelta(label)
    if type(label) is np.longdouble:
        return float(label)
    return label.item() if isinstance(label, np.generic) else label


@dataclass(frozen=True)
class Categorical:
    """Describe a variable by its public levels; a value outside them counts as missing.

    Formulas of R code an ``ordered`` one by polynomials.
    """

    levels: tuple
    ordered: bool = False

    def __post_init__(self):
        check_labels(self.levels, "levels")
        object.__setattr__(self, "levels", plain_labels(self.levels))


@dataclass(frozen=True)
class Labels:
    """Describe a variable whose values only tell groups of rows apart and are never shown."""


# A range on which logarithms, roots and inverse functions have values.
INSIDE_FUNCTIONS = Numeric(0.25, 0.75)
# Farther bounds have squares and products beyond the range of doubles, and so have the inverses of
# widths that are smaller than its inverse.
FARTHEST = 1e100
BOOLEAN = Categorical((False, True))
# The range of a column without declared bounds, for methods that need none.
UNLIMITED = Numeric(-(2.0**60), 2.0**60)

Kind = Numeric | Categorical | Labels
Schema = Mapping[str, Kind]
ModelSchema = Mapping[str, Numeric | Categorical]
"""The variables of a regression, without a column whose effects are absorbed."""
Batch = Mapping[str, np.ndarray]
"""Columns of equal length: float64 with NaN for missing where the schema says Numeric,
int64 codes into the levels with -1 for missing or unknown where it says Categorical, and keys as
float64 with NaN for missing where it says Labels."""


def complete_rows(batch: Batch, schema: Schema, free: Collection[str] = ()) -> np.ndarray:
    """Return a mask, bool (m,), of the rows in use: those in which no variable is missing.

    A value outside the levels of a Categorical is missing too, and so is an infinite number of a
    variable in ``free``, which has no bounds to move it to. Each entry depends on its own row
    alone, so that a call sees a function of each row, or nothing of it.

    Add/remove. Tables that differ in one row have rows in use that are equal or differ in one row,
    so a guarantee for these is one for the tables, and what is missing stays private.

    Replace-one. The methods take the number of rows in use for public. When a row is replaced by
    one that is left out, that number changes by one, and no method for a public number hides it; to
    fill such rows with public values would hide it and bias every estimate, which intervals do
    not cover. So the relation is one between rows in use: neighbours have the same rows left
    out, these being public, for whatever reason they are: a missing value and a value outside the
    levels alike. The report says so in one sentence. Who cannot say that of a column takes a
    method for add/remove, or lists every value that may occur in ``levels=``.
    """
    missing = np.zeros(len(next(iter(batch.values()))), dtype=bool)
    for name, kind in schema.items():
        missing |= batch[name] < 0 if isinstance(kind, Categorical) else np.isnan(batch[name])
        if name in free:
            missing |= np.isinf(batch[name])
    return ~missing
