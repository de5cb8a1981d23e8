"""Hold the inputs of a fit: the request with its final design, and its rows in batches."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from dpstats.engines import Table, UnitTable
from dpstats.formula import Design
from dpstats.formula.orthogonal import orthogonal_basis
from dpstats.mechanisms.shared import Problem
from dpstats.numerics import ColumnBasis, Rows
from dpstats.privacy import Cost
from dpstats.request.request import Request
from dpstats.request.rows_in_use import RowReader
from dpstats.schema import UNLIMITED, Batch, Numeric


@dataclass(frozen=True)
class Prepared:
    """Hold a request, its design, its mechanism's problem and the cost the mechanism may spend.

    Once terms are selected and ranges estimated nothing public is left to be worked out.
    ``points`` name the rows of ``problem.x_new``.
    """

    request: Request
    design: Design
    problem: Problem
    cost: Cost
    points: tuple[str, ...]

    @classmethod
    def of(cls, request: Request) -> "Prepared":
        """Work out the problem under the request's schema."""
        frame, design = _prediction_frame(request), request.design
        # at quarters of an estimated range a term may have no value, which must not stop the call
        x_new = (
            design.predictors(frame, may_lack_values=request.x_new is None)
            if len(frame)
            else np.empty((0, len(design.names)))
        )
        y_low, y_high = design.response_bounds
        problem = Problem(
            design.low,
            design.high,
            y_low,
            y_high,
            design.intercept,
            request.neighbors,
            request.row_norm,
            bool(request.estimated),
            x_new,
            design.layout,
            request.reference,
            request.coded,
            request.weights is not None or request.unit is not None,
            request.unit is not None,
            _basis(request),
            request.unsure,
        )
        return cls(request, design, problem, request.fit_cost, _labels(frame))

    @property
    def response_ends(self) -> tuple[float, float]:
        """Return the declared bounds of the response, which predictions keep to."""
        return self.design.response_ends(self.request.estimated)

    def total(self, each: Callable[[Rows], Any]) -> "Counted":
        """Add up ``each(rows)`` over batches of the rows in use, and count these rows."""
        request = self.request
        count = partial(_counted, request.read_rows, each)
        return request.rows_in_use.total(request.table, count)

    def gathered(self, *others: str) -> "Prepared":
        """Load the columns in use and some others into memory, and return a copy on that table.

        What is read in whole units already is in memory.
        """
        if self.request.unit is not None:
            return self
        table = self.request.table.gathered((*self.request.rows_in_use.columns, *others))
        return replace(self, request=replace(self.request, table=table))

    @property
    def table(self) -> Table:
        """Return the table in memory, after :meth:`gathered`."""
        table = self.request.table
        table = table.source if isinstance(table, UnitTable) else table
        assert isinstance(table, Table), "gathered() comes first"
        return table

    def in_order(self, groups: np.ndarray) -> np.ndarray:
        """Return groups, int64 (n,), of the rows of :attr:`table` in the order of reading."""
        table = self.request.table
        return table.move(groups) if isinstance(table, UnitTable) and table.move else groups

    def rows(self, groups: np.ndarray | None = None) -> Iterator[tuple[Rows, np.ndarray | None]]:
        """Yield batches of rows in use with their groups; ``groups`` has one per raw row."""
        request = self.request
        return request.rows_in_use.batches(request.table, request.read_rows, groups)


@dataclass(frozen=True)
class Counted:
    """Hold the summary of some rows and their number, with units that of the units."""

    summary: Any
    rows: int

    def __add__(self, other: "Counted") -> "Counted":
        return Counted(self.summary + other.summary, self.rows + other.rows)


def _basis(request: Request) -> ColumnBasis | None:
    """Return the orthogonal basis of the columns, for a method that takes one."""
    takes = request.method.takes_basis and request.row_norm is None
    return orthogonal_basis(request.design) if takes else None


def _prediction_frame(request: Request) -> pd.DataFrame:
    """Return where to predict; by default 25% and 75% of the only regressor's range."""
    if request.x_new is not None:
        return request.x_new
    predictors = request.formula.predictors
    kind = request.schema.get(predictors[0]) if len(predictors) == 1 else None
    if request.formula.absorbed is not None:
        kind = None  # predictions need the effects of groups
    if not isinstance(kind, Numeric) or kind == UNLIMITED or request.row_norm is not None:
        return pd.DataFrame({predictor: [] for predictor in predictors})
    quarters = [kind.low + q * (kind.high - kind.low) for q in (0.25, 0.75)]
    return pd.DataFrame({predictors[0]: quarters}, index=["p25", "p75"])


def _labels(frame: pd.DataFrame) -> tuple[str, ...]:
    """Name the prediction points by the frame's index, or 0, 1, ... when it repeats."""
    labels = tuple(str(label) for label in frame.index)
    return labels if len(set(labels)) == len(labels) else tuple(map(str, range(len(frame))))


def _counted(read: RowReader, each: Callable[[Rows], Any], batch: Batch) -> Counted:
    rows = read(batch)
    return Counted(each(rows), rows.count)
