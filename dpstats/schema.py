"""The public description of a table: what each variable may be, never what it is."""

from collections.abc import Collection, Hashable, Mapping, Set
from dataclasses import dataclass
from functools import reduce

import numpy as np

from dpstats.errors import ArgumentError


@dataclass(frozen=True)
class Numeric:
    """A real variable and its public range; values outside are clipped to it."""

    low: float
    high: float

    def __post_init__(self):
        if not (np.isfinite(self.low) and np.isfinite(self.high) and self.low < self.high):
            raise ArgumentError(
                f"expected bounds (low, high) with finite low < high, got ({self.low}, {self.high})"
            )


def check_labels(labels, argument: str) -> None:
    """Raise ArgumentError unless these are distinct labels, at least one."""
    if isinstance(labels, (str, Set, Mapping)) or not isinstance(labels, Collection):
        raise ArgumentError(f"expected {argument} to be a list, got {labels!r}")
    if not all(isinstance(label, Hashable) for label in labels):
        raise ArgumentError(f"expected {argument} to list numbers or strings, got {labels!r}")
    if not len(labels) or len(set(labels)) != len(labels):
        raise ArgumentError(
            f"expected {argument} to name at least one label and none twice, got {list(labels)}"
        )


def plain_labels(labels) -> tuple:
    """Labels as Python objects, whatever library they came from."""
    return tuple(label.item() if isinstance(label, np.generic) else label for label in labels)


@dataclass(frozen=True)
class Categorical:
    """A variable with public levels; a value outside them counts as missing.

    Formulas of R turn an ``ordered`` one into polynomials.
    """

    levels: tuple
    ordered: bool = False

    def __post_init__(self):
        check_labels(self.levels, "levels")
        object.__setattr__(self, "levels", plain_labels(self.levels))


# Farther bounds have squares and products beyond the range of doubles.
FARTHEST = 1e100
BOOLEAN = Categorical((False, True))
# The range of a column whose bounds nobody stated, for methods that need none.
UNLIMITED = Numeric(-(2.0**60), 2.0**60)

Schema = Mapping[str, Numeric | Categorical]
Batch = Mapping[str, np.ndarray]
"""Columns of equal length: float64 with NaN for missing where the schema says Numeric,
int64 codes into the levels with -1 for missing or unknown where it says Categorical."""


def complete_rows(batch: Batch, schema: Schema) -> np.ndarray:
    """Boolean mask (m,) of the rows in which no variable of the schema is missing.

    Each entry depends on its own row alone, so dropping the others keeps
    neighbouring tables neighbours under add/remove.
    """
    missing = [
        batch[name] < 0 if isinstance(kind, Categorical) else np.isnan(batch[name])
        for name, kind in schema.items()
    ]
    return ~reduce(np.logical_or, missing)
