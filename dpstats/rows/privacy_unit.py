"""Check unit= and max_rows=, and work out what part of one row each row of a person counts for."""

from dataclasses import dataclass

import numpy as np

from dpstats.engines import AnyTable
from dpstats.engines.units import PARTS, UNIT
from dpstats.engines.units import check_unit as check_kind
from dpstats.errors import ArgumentError, shown
from dpstats.estimators import METHODS
from dpstats.estimators.contract import Method
from dpstats.formula import Formula
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.option_checks import whole
from dpstats.schema import Batch
from dpstats.selection import SELECTORS

# What one row counts for, in units of 2^-20.
ONE = 1 << ENTRY_BITS


@dataclass(frozen=True)
class PrivacyUnit:
    """Protect all rows with one value of a column, such as a person's, together.

    Parameters
    ----------
    column : str
    max_rows : int
        A unit with m rows in use has them count for min(1, max_rows / m) of a row each.
    max_groups : int
        In how many groups of ``by=`` a unit's rows are used.
    """

    column: str
    max_rows: int = 1
    max_groups: int = 1

    def parts(self, units: np.ndarray) -> np.ndarray:
        """Return what part of ``max_rows`` rows each row counts for, whole numbers of 2^-20.

        A unit of m rows has parts of floor(2^20 / max(m, max_rows)), which add up to at most 2^20.

        Parameters
        ----------
        units : numpy.ndarray
            Numbers of units (m,), equal ones beside one another.

        Examples
        --------
        >>> PrivacyUnit("id").parts(np.array([0, 0, 1, 2, 2, 2])) / 2**20
        array([0.5       , 0.5       , 1.        , 0.33333302, 0.33333302,
               0.33333302])
        """
        edges = np.flatnonzero(np.diff(units, prepend=-1, append=-1)) if len(units) else [0]
        rows = np.diff(edges)
        return np.repeat(ONE // np.maximum(rows, self.max_rows), rows)

    def with_parts(self, batch: Batch) -> Batch:
        """Add the parts of the rows of a batch, which has all rows in use of its units."""
        return {**batch, PARTS: self.parts(batch[UNIT])}

    def in_groups(self, units: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the parts of rows in groups, and the group of each row, -1 for those left out.

        A unit's rows are used in the ``max_groups`` groups where it has the most rows, of equal
        ones those that come first. In each of them their parts are those of :meth:`parts`. So what
        a unit adds to a group depends on its own rows alone.

        Parameters
        ----------
        units, codes : numpy.ndarray
            Numbers of units and of groups (m,), -1 for no group.

        Examples
        --------
        >>> units, codes = np.array([0, 0, 0, 1, 1]), np.array([2, 1, 2, 0, -1])
        >>> parts, kept = PrivacyUnit("id").in_groups(units, codes)
        >>> parts / 2**20, kept
        (array([0.5, 0. , 0.5, 1. , 0. ]), array([ 2, -1,  2,  0, -1]))
        """
        order = np.lexsort((codes, units))
        pairs = np.stack([units[order], codes[order]])
        starts = np.flatnonzero(np.any(np.diff(pairs, prepend=-2), axis=0))
        rows = np.diff(starts, append=len(codes))
        unit, code = pairs[:, starts]
        # runs of equal unit and group, in the order in which a unit prefers groups
        preferred = np.lexsort((code, -rows, code < 0, unit))
        first = np.flatnonzero(np.diff(unit[preferred], prepend=-2))
        rank = np.empty(len(starts), dtype=np.int64)
        rank[preferred] = np.arange(len(starts)) - np.repeat(
            first, np.diff(first, append=len(starts))
        )
        kept = (rank < self.max_groups) & (code >= 0)
        parts, groups = np.empty_like(order), np.empty_like(order)
        parts[order] = np.repeat(np.where(kept, ONE // np.maximum(rows, self.max_rows), 0), rows)
        groups[order] = np.repeat(np.where(kept, code, -1), rows)
        return parts, groups

    @property
    def note(self) -> str:
        """Say who is protected, and what each row counts for."""
        rows = "one row" if self.max_rows == 1 else f"{self.max_rows} rows"
        return (
            f"the guarantee is for all rows with one value of {self.column} together: those of one "
            f"{self.column} count for {rows} in all, in equal parts where there are more; a row "
            f"without a {self.column} is protected by itself"
        )


def declared_unit(column, max_rows, max_groups, table: AnyTable, by) -> PrivacyUnit | None:
    """Check ``unit=``, ``max_rows=`` and ``max_groups=`` against the table.

    Raises
    ------
    ArgumentError
        With what to write instead.
    """
    if column is None:
        for name, value in (("max_rows", max_rows), ("max_groups", max_groups)):
            if value is not None:
                raise ArgumentError(f"{name} is for persons with several rows; add unit=")
        return None
    if not isinstance(column, str):
        raise ArgumentError(
            f'expected unit to name a column, as in unit="person_id", got {shown(column)}'
        )
    check_kind(table, column)
    if max_groups is not None and by is None:
        raise ArgumentError("max_groups is for the groups of by=; leave it out")
    rows = whole("max_rows", 1, ONE)(1 if max_rows is None else max_rows)
    groups = whole("max_groups", 1, ONE)(1 if max_groups is None else max_groups)
    return PrivacyUnit(column, rows, groups)


def check_unit(method: Method, unit: PrivacyUnit | None, select, formula: Formula) -> None:
    """Raise ArgumentError where a method, or a selection of terms, is for single rows only."""
    if unit is None:
        return
    if formula.absorbed not in (None, unit.column):
        raise ArgumentError(
            f"{formula.text!r} compares rows of several persons with one mean, which is not proven "
            f"for unit={unit.column!r}; absorb {unit.column} itself, leave unit= out, or write "
            f"C({formula.absorbed}) with levels= instead of |"
        )
    if "units" not in method.takes:
        able = ", ".join(name for name, known in METHODS.items() if "units" in known.takes)
        raise ArgumentError(
            f"{method.name} is proven for persons of one row only; with unit={unit.column!r} use "
            f"one of {able}"
        )
    if select in SELECTORS and not SELECTORS[select].takes_units:
        raise ArgumentError(
            f"select={select!r} is proven for persons of one row only; with unit={unit.column!r} "
            "use 'lasso', or choose the terms yourself"
        )
    if not formula.has_intercept and formula.absorbed is None:
        raise ArgumentError(
            f"unit={unit.column!r} needs the intercept, whose sum counts the persons; leave -1 or "
            "+0 out of the formula"
        )
