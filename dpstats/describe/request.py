"""Hold the public facts of one call of dp_describe, and read the rows that it uses."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from dpstats.call.request import relation_in_words
from dpstats.describe.counting import Counting
from dpstats.engines import AnyTable
from dpstats.privacy import ADD_REMOVE, GDP, PrivacyReport
from dpstats.privacy.report import relation_name
from dpstats.rows import PrivacyUnit, RowsInUse, Subset, Weights
from dpstats.schema import UNLIMITED, Batch, Categorical, Numeric, Schema

# What is released alone, with the whole budget, where nothing else is asked for.
COUNTS = frozenset(("n", "missing"))


@dataclass(frozen=True)
class DescribeRequest:
    """Hold the public facts of one call of dp_describe.

    ``columns`` are the variables in order: the levels of factors, the bounds of numbers, None for
    a number without; ``whole`` names those whose type holds whole numbers. ``labels`` are those of
    the groups, (None,) without; ``only_counts`` says that :data:`COUNTS` are all that is asked for.
    """

    table: AnyTable
    columns: Mapping[str, Categorical | Numeric | None]
    whole: frozenset[str]
    by: str | None
    labels: tuple
    epsilon: float
    delta: float
    quantiles: tuple[float, ...]
    alpha: float
    histogram: bool = False
    only_counts: bool = False
    subset: Subset | None = None
    unit: PrivacyUnit | None = None
    weights: Weights | None = None
    cost: GDP = GDP(1.0)

    @property
    def z(self) -> float:
        """Return the normal quantile of intervals."""
        from scipy.special import ndtri

        return float(-ndtri(self.alpha / 2))

    @property
    def relation(self) -> str:
        """Name the relation in budgets: losses for persons and for rows do not add up."""
        return relation_name(ADD_REMOVE, self.unit and self.unit.column)

    @property
    def rows_in_use(self) -> RowsInUse:
        """Return the rule that decides which rows are used: a missing value leaves none out."""
        groups = {} if self.by is None else {self.by: Categorical(self.labels)}
        return RowsInUse(groups, self.weights, self.subset)

    @property
    def counting(self) -> Counting:
        """Return the rule that decides what each row counts for."""
        return Counting(self.unit, self.weights, self.by)

    @property
    def read(self) -> Schema:
        """Describe all columns that are read, but for that of the unit."""
        read = {name: UNLIMITED if kind is None else kind for name, kind in self.columns.items()}
        return {**self.rows_in_use.columns, **read}

    def in_whole_units(self) -> "DescribeRequest":
        """Have the table read all rows of a privacy unit together, if there is one."""
        if self.unit is None:
            return self
        return replace(self, table=self.table.by_unit(self.read, self.unit.column))

    def total(self, each: Callable[[Batch], Any]) -> Any:
        """Add up ``each(batch)`` over batches of the rows in use, values cut to declared bounds.

        Infinite numbers of columns without bounds, which would move them, are missing. Rows have
        their parts beside them where they do not count once each.
        """
        plain = self.by is None and self.subset is None and self.counting.one == 1
        work = each if plain else partial(_of_used, self.rows_in_use, self.counting, each)
        free = [name for name, kind in self.columns.items() if kind is None]
        work = partial(_finite, free, work) if free else work
        return self.table.total(self.read, work)

    def report(self, events, private: bool) -> PrivacyReport:
        """Build the privacy report of a release that drew these events."""
        unit = self.unit
        said = [
            *relation_in_words(ADD_REMOVE, unit),
            "column names, column types, declared bounds and declared levels are public",
        ]
        if self.by is not None and unit is None:
            said.append(f"each row belongs to one {self.by}, so the groups together cost what one "
                        "group costs")  # fmt: skip
        if self.by is not None and unit is not None:
            said.append(f"rows of one {unit.column} count in the {unit.max_groups} {self.by} where "
                        "it has the most")  # fmt: skip
        if self.by is not None:
            said.append(f"the list of {self.by} labels is public; other rows are left out")
        said += [chosen.note for chosen in (self.subset, self.weights) if chosen is not None]
        return PrivacyReport(
            neighbors=ADD_REMOVE,
            epsilon=self.epsilon,
            delta=self.delta,
            limit=self.cost,
            events=tuple(events),
            assumptions=tuple(said),
            private=private,
            parallel=self.by is not None,
            unit=unit and unit.column,
            max_rows=unit.max_rows if unit else 1,
            max_groups=unit.max_groups if unit else 1,
        )


def _of_used(rows: RowsInUse, counting: Counting, each: Callable, batch: Batch) -> Any:
    return each(counting.of(rows.of(batch)))


def _finite(free: Sequence[str], each: Callable, batch: Batch) -> Any:
    """Apply ``each`` to a batch whose infinite numbers of the columns ``free`` are missing."""
    found = {name: np.where(np.isinf(batch[name]), np.nan, batch[name]) for name in free}
    return each({**batch, **found})
