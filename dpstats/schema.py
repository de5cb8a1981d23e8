"""The public description of a table: what each variable may be, never what it is."""

from collections.abc import Mapping
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Categorical:
    """A variable with public levels; a value outside them counts as missing."""

    levels: tuple

    def __post_init__(self):
        if not self.levels or len(set(self.levels)) != len(self.levels):
            raise ArgumentError(
                f"expected at least one level and no level twice, got {list(self.levels)}"
            )


BOOLEAN = Categorical((False, True))

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
    return ~np.logical_or.reduce(missing)
