"""Check the columns of an offset and an exposure, and add them up row by row."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from dpstats.engines import AnyTable
from dpstats.engines.columns import NUMERIC, UNTYPED
from dpstats.errors import ArgumentError, typed
from dpstats.schema import UNLIMITED, Batch, Categorical, Numeric, Schema
from dpstats.spelling import no_column


@dataclass(frozen=True)
class Offset:
    """Add private columns to the linear predictor, whose coefficient is 1.

    Each row decides by its own cells: one without a finite offset, or with an exposure that is not
    finite or not above zero, is missing. Values beyond declared bounds count as the nearer bound,
    and sums beyond :data:`FARTHEST` on either side as that.

    Parameters
    ----------
    column : str or None
        Added as it is.
    exposure : str or None
        Of which the logarithm is added.
    schema : mapping of str to Numeric
        The declared ranges of both.
    """

    column: str | None
    exposure: str | None
    schema: Mapping[str, Numeric]

    @property
    def name(self) -> str:
        """Name what is added, as a term in R."""
        named = [self.column, self.exposure and f"log({self.exposure})"]
        return " + ".join(f"offset({name})" for name in named if name)

    @property
    def limit(self) -> Numeric | None:
        """Return the range of what is added, where declared bounds imply one."""
        low = high = 0.0
        for name, kind in self.schema.items():
            ends = kind.low, kind.high
            if name == self.exposure:
                ends = math.log(kind.low) if kind.low > 0 else -math.inf, math.log(kind.high)
            low, high = low + ends[0], high + ends[1]
        low, high = max(low, -FARTHEST), min(high, FARTHEST)
        known = UNLIMITED not in self.schema.values() and -FARTHEST < low < high
        return Numeric(low, high) if known else None

    def usable(self, batch: Batch) -> np.ndarray:
        """Tell which rows have an offset, bool (m,)."""
        found = [np.isfinite(batch[name]) for name in self.schema]
        found += [batch[self.exposure] > 0] if self.exposure else []
        return np.logical_and.reduce(found)

    def values(self, batch: Batch) -> np.ndarray:
        """Return what is added to the linear predictor of usable rows, (m,)."""
        with np.errstate(over="ignore"):
            added = sum(self._added(name, np.clip(batch[name], kind.low, kind.high))
                        for name, kind in self.schema.items())  # fmt: skip
        return np.clip(added, -FARTHEST, FARTHEST)

    def _added(self, name: str, values: np.ndarray) -> np.ndarray:
        return np.log(np.maximum(values, _LEAST)) if name == self.exposure else values

    @property
    def note(self) -> str:
        """Say what is added, and which rows are left out."""
        why = "missing or infinite"
        why += ", or whose exposure is zero or negative," if self.exposure else ""
        return (
            f"{self.name} is added to the linear predictor; rows whose offset is {why} are left out"
        )


FARTHEST = 2.0**20
"""The largest offset: odds and means are 0 or beyond any number long before."""

# The least exposure, where a declared bound would make it zero.
_LEAST = 5e-324


def declared_offset(column, exposure, bounds: Mapping, table: AnyTable) -> Offset | None:
    """Check ``offset=`` and ``exposure=`` against the bounds and the table.

    Raises
    ------
    ArgumentError
        With what to write instead.
    """
    named = {"offset": column, "exposure": exposure}
    ranges = {
        name: _range(argument, name, bounds, table)
        for argument, name in named.items()
        if name is not None
    }
    if column is not None and column == exposure:
        raise ArgumentError(
            f"offset={column!r} and exposure={exposure!r} are one column; give one of them"
        )
    return Offset(column, exposure, ranges) if ranges else None


def check_offset(offset: Offset | None, schema: Schema, response: Collection[str]) -> None:
    """Raise ArgumentError for an offset that the formula takes for a factor, or as the response."""
    if offset is None:
        return
    for name in offset.schema:
        if name in response:
            argument = "exposure" if name == offset.exposure else "offset"
            raise ArgumentError(
                f"{argument}={name!r} is the response, which would explain itself; name another "
                "column, or leave it out"
            )
        if isinstance(schema.get(name), Categorical):
            raise ArgumentError(
                f"{name!r} is a factor in the formula and a number in the offset; make a second "
                "column of it"
            )


def _range(argument: str, name, bounds: Mapping, table: AnyTable) -> Numeric:
    """Return the declared range of a column, which must hold numbers."""
    if not isinstance(name, str):
        raise ArgumentError(
            f'expected {argument} to name a column, as in {argument}="t", got {typed(name)}'
        )
    if name not in table.columns:
        raise no_column(name, table.columns)
    kind = table.kind(name)
    if kind not in (*NUMERIC, *UNTYPED):
        raise ArgumentError(f"{argument}={name!r} is a column of type {kind}; it must hold numbers")
    if name not in bounds:
        return UNLIMITED
    low, high = bounds[name]
    if argument == "exposure" and high <= 0:
        raise ArgumentError(
            f"expected bounds[{name!r}] of the exposure to end above 0, got ({low:g}, {high:g})"
        )
    return Numeric(low, high)
