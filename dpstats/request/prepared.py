"""Hold the inputs of a fit: the request with its final design, and its rows in batches."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from dpstats.engines import AnyTable, Table
from dpstats.engines.parallel_sum import Summary
from dpstats.formula import Design
from dpstats.mechanisms.shared import Problem
from dpstats.privacy import Cost
from dpstats.request.request import Request
from dpstats.schema import UNLIMITED, Batch, Numeric, Schema, complete_rows


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
        )
        return cls(request, design, problem, request.fit_cost, _labels(frame))

    def total(self, each: Callable[[np.ndarray, np.ndarray], Any]) -> "Counted":
        """Add up ``each(X, y)`` over batches of complete rows, and count these rows."""
        request = self.request
        count = partial(_counted, request.read_rows, each)
        return total_of_complete(request.table, request.schema, count)

    def gathered(self, *others: str) -> "Prepared":
        """Load the columns in use and some others into memory, and return a copy on that table."""
        table = self.request.table.gathered((*self.request.schema, *others))
        return replace(self, request=replace(self.request, table=table))

    @property
    def table(self) -> Table:
        """Return the table in memory, after :meth:`gathered`."""
        table = self.request.table
        assert isinstance(table, Table), "gathered() comes first"
        return table

    def rows(self, codes: np.ndarray | None = None) -> Iterator[tuple]:
        """Yield batches (X, y, codes) of complete rows; ``codes`` has one entry per raw row."""
        request = self.request
        return complete_batches(request.table, request.schema, request.read_rows, codes)


@dataclass(frozen=True)
class Counted:
    """Hold the summary of some rows and their number."""

    summary: Any
    rows: int

    def __add__(self, other: "Counted") -> "Counted":
        return Counted(self.summary + other.summary, self.rows + other.rows)


def total_of_complete(table: AnyTable, schema: Schema, each: Callable[[Batch], Summary]) -> Summary:
    """Add up ``each(batch)`` over batches of the complete rows' raw columns."""
    return table.total(schema, partial(_of_complete, schema, each))


def complete_batches(
    table: AnyTable,
    schema: Schema,
    read: Callable[[Batch], tuple[np.ndarray, np.ndarray]],
    codes: np.ndarray | None = None,
) -> Iterator[tuple]:
    """Yield batches (X, y, codes) of complete rows; ``codes`` has one entry per raw row."""
    start = 0
    for batch in table.batches(schema):
        complete = complete_rows(batch, schema)
        X, y = read(_only(batch, complete))
        stop = start + len(complete)
        yield X, y, None if codes is None else codes[start:stop][complete]
        start = stop


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


def _counted(read: Callable, each: Callable, batch: Batch) -> Counted:
    X, y = read(batch)
    return Counted(each(X, y), len(y))


def _of_complete(schema: Schema, each: Callable[[Batch], Summary], batch: Batch) -> Summary:
    return each(_only(batch, complete_rows(batch, schema)))


def _only(batch: Batch, chosen: np.ndarray) -> Batch:
    """Return the chosen rows of a batch; where all are chosen they are not copied."""
    if chosen.all():
        return batch
    return {name: column[chosen] for name, column in batch.items()}
