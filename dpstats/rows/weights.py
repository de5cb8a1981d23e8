"""Check the column of weights and its public bounds, and turn values into parts of one row."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dpstats.engines import AnyTable
from dpstats.engines.columns import NUMERIC, UNTYPED
from dpstats.errors import ArgumentError, typed
from dpstats.estimators import METHODS
from dpstats.estimators.contract import Method
from dpstats.formula import Formula
from dpstats.option_checks import number
from dpstats.schema import Numeric


@dataclass(frozen=True)
class Weights:
    """Weigh rows by a column with public bounds.

    Parameters
    ----------
    column : str
    low, high : float
        Declared bounds, 0 <= low < high; values outside count as the nearer one.
    trim : float or None
        Larger weights count as this, by request.
    """

    column: str
    low: float
    high: float
    trim: float | None = None

    @property
    def largest(self) -> float:
        """Return the largest weight that a row can have."""
        return self.high if self.trim is None else self.trim

    @property
    def kind(self) -> Numeric:
        """Return the public range of the column."""
        return Numeric(self.low, self.high)

    def usable(self, values: np.ndarray) -> np.ndarray:
        """Tell which values are weights, bool (m,): finite and above zero."""
        return np.isfinite(values) & (values > 0)

    def parts(self, values: np.ndarray) -> np.ndarray:
        """Return what part of one row each row counts for, (m,), in [0, 1]: w / w_max."""
        return np.clip(values, self.low, self.largest) / self.largest

    @property
    def note(self) -> str:
        """Say which weights count as what."""
        least = f", smaller ones as {self.low:g}" if self.low else ""
        trimmed = " (trim_weights)" if self.trim is not None else ""
        return (
            f"rows are weighted by {self.column}: weights above {self.largest:g} count as "
            f"{self.largest:g}{trimmed}{least}; rows whose weight is missing, infinite, zero or "
            "negative are left out"
        )


def declared_weights(column, trim, bounds: Mapping, table: AnyTable) -> Weights | None:
    """Check ``weights=`` and ``trim_weights=`` against the bounds and the table.

    Raises
    ------
    ArgumentError
        With what to write instead.
    """
    if column is None:
        if trim is not None:
            raise ArgumentError("trim_weights is for weights; add weights=")
        return None
    low, high = _bounds(column, bounds, table)
    if trim is not None:
        trim = number("trim_weights", low, high, "()")(trim)
    return Weights(column, low, high, trim)


def check_weights(method: Method, select, formula: Formula, by_unit: bool) -> None:
    """Raise ArgumentError where a method, or a selection of terms, takes no weights."""
    if formula.absorbed is not None and by_unit:
        raise ArgumentError(
            f"effects of {formula.absorbed} with unit= are not proven for rows of different "
            "weights; leave weights and trim_weights out"
        )
    if "weights" not in method.takes and formula.absorbed is not None:
        raise ArgumentError(
            f"{method.name} is not proven for rows of different weights with | {formula.absorbed}; "
            'take method="auto", which compares pairs of rows, '
            f"leave weights out, or write C({formula.absorbed}) with levels= instead of |"
        )
    if "weights" not in method.takes:
        able = ", ".join(name for name, known in METHODS.items() if "weights" in known.takes)
        raise ArgumentError(
            f"{method.name} is not proven for rows of different weights; use one of {able}"
        )
    if select is not None:
        raise ArgumentError(
            f"select={select!r} counts each row once, so it takes no weights; choose the terms "
            "yourself or leave weights out"
        )


def _bounds(column, bounds: Mapping, table: AnyTable) -> tuple[float, float]:
    """Return the declared bounds of the column of weights."""
    if not isinstance(column, str):
        raise ArgumentError(
            f'expected weights to name a column, as in weights="w", got {typed(column)}'
        )
    kind = table.kind(column)
    if kind not in (*NUMERIC, *UNTYPED):
        raise ArgumentError(f"weights={column!r} is a column of type {kind}; it must hold numbers")
    if column not in bounds:
        raise ArgumentError(
            "the largest weight decides how much noise is needed, so it must be public: give "
            f'bounds={{"{column}": (low, high)}} with low >= 0'
        )
    low, high = bounds[column]
    if low < 0:
        raise ArgumentError(
            f"expected bounds[{column!r}] of the weights to begin at 0 or above, got ({low:g}, "
            f"{high:g})"
        )
    return low, high
