"""One call to dp_ols as public facts, and the rows as its mechanism will see them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from dpstats.bounds import estimate_ranges
from dpstats.engines.frames import Table
from dpstats.errors import ArgumentError
from dpstats.formula import Design, Formula
from dpstats.mechanisms.spec import Method, Problem
from dpstats.noise import Noise
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE, Cost, PrivacyReport
from dpstats.schema import UNLIMITED, Batch, Numeric, Schema, complete_rows

# Farther bounds have squares and products beyond the range of doubles.
FARTHEST = 1e100
# Share of the budget that buys missing bounds.
BOUNDS_SHARE = 0.2
_RELATION = {
    ADD_REMOVE: ("neighbours differ by adding or removing one row; the number of rows is private",),
    REPLACE_ONE: (
        "neighbours differ by replacing one row; the number of rows is public",
        "which rows have a missing value is treated as public; they are left out",
    ),
}


@dataclass(frozen=True)
class Request:
    """Public facts of one call.

    ``schema`` lacks a range for the variables in ``unbounded``, which are estimated
    from the data within the budget; see :meth:`with_ranges`.
    """

    formula: Formula
    table: Table
    method: Method
    epsilon: float
    delta: float
    neighbors: str
    schema: Schema
    unbounded: tuple[str, ...]
    term_bounds: Mapping[str, tuple[float, float]]
    row_norm: float | None
    x_new: pd.DataFrame | None
    options: Mapping[str, Any]
    levels_from_dtype: tuple[str, ...]
    cost: Cost
    estimated: tuple[str, ...] = ()

    @property
    def fit_cost(self) -> Cost:
        """What is left for the mechanism once missing bounds are paid for."""
        return self.cost.part(1 - BOUNDS_SHARE) if self.estimated or self.unbounded else self.cost

    def with_ranges(self, noise: Noise) -> "Request | None":
        """This request with every range known, or None when none could be released."""
        if not self.unbounded:
            return self
        cost = self.cost.part(BOUNDS_SHARE)
        ranges = estimate_ranges(self._batches, self.unbounded, cost, noise, self.neighbors)
        if ranges is None:
            return None
        return replace(
            self, schema={**self.schema, **ranges}, unbounded=(), estimated=self.unbounded
        )

    def _batches(self) -> Iterator[Batch]:
        """Batches of the complete rows' raw columns."""
        for batch in self.table.batches(self.schema):
            complete = complete_rows(batch, self.schema)
            yield {name: column[complete] for name, column in batch.items()}

    def rows(self, design: Design, codes: np.ndarray | None = None):
        """Batches (X, y, codes) of the complete rows; ``codes`` has one entry a raw row."""
        start = 0
        for batch in self.table.batches(self.schema):
            complete = complete_rows(batch, self.schema)
            X, y = design.rows({name: column[complete] for name, column in batch.items()})
            stop = start + len(complete)
            yield X, y, None if codes is None else codes[start:stop][complete]
            start = stop

    def report(self, events, private: bool, more: tuple[str, ...] = ()) -> PrivacyReport:
        """The privacy report of a release that drew these events."""
        return PrivacyReport(
            neighbors=self.neighbors,
            epsilon=self.epsilon,
            delta=self.delta,
            limit=self.cost,
            events=tuple(events),
            assumptions=(*self._assumptions(), *more),
            private=private,
        )

    def _assumptions(self) -> tuple[str, ...]:
        """What the guarantee takes for granted, in words."""
        said = [
            "one person contributes one row: the guarantee is row-level",
            *_RELATION[self.neighbors],
        ]
        said.append("column names, column types, declared bounds and declared levels are public")
        if self.levels_from_dtype:
            named = ", ".join(self.levels_from_dtype)
            said.append(f"the categories of {named}, taken from the column type, are public")
        return (*self.method.remarks, *said)

    def check(self) -> None:
        """Build the design once on the public schema, so that later it cannot fail."""
        design = self.design()
        names = ", ".join(design.names)
        if self.method.simple and (design.intercept is None or len(design.names) != 2):
            raise ArgumentError(
                f"{self.method.name} fits an intercept and one numeric column, got the columns "
                f'{names}; for more use method="adassp"'
            )
        if self.method.simple and self.unbounded and self.x_new is not None:
            raise ArgumentError(
                f"x_new with method={self.method.name!r} needs declared bounds on "
                f"{self.unbounded[0]}"
            )
        reach = np.abs([*design.low, *design.high, *design.response_bounds]).max()
        if reach > FARTHEST:
            raise ArgumentError(
                f"a column of {self.formula.text!r} reaches {reach:g}; tighten bounds"
            )
        taken = [label for label in self.point_labels() if label in design.names]
        if taken:
            raise ArgumentError(f"x_new labels a point {taken[0]!r}, which names a coefficient")
        self.method.check(self.problem(design))

    def design(self) -> Design:
        """The design under the schema as far as it is known."""
        return self.formula.design(self.schema, self.term_bounds)

    def prediction_frame(self) -> pd.DataFrame:
        """Where to predict; by default 25% and 75% of the only regressor's range."""
        if self.x_new is not None:
            return self.x_new
        (name,) = self.formula.predictors[:1] or (None,)
        kind = self.schema.get(name)
        ranged = isinstance(kind, Numeric) and kind != UNLIMITED
        simple = len(self.formula.predictors) == 1 and ranged
        if not simple or self.row_norm is not None:
            return pd.DataFrame({p: [] for p in self.formula.predictors})
        quarters = [kind.low + q * (kind.high - kind.low) for q in (0.25, 0.75)]
        return pd.DataFrame({name: quarters}, index=["p25", "p75"])

    def point_labels(self) -> tuple[str, ...]:
        """Names of the prediction points: the frame's index, or 0, 1, ... when it repeats."""
        frame = self.prediction_frame()
        labels = tuple(str(label) for label in frame.index)
        return labels if len(set(labels)) == len(labels) else tuple(map(str, range(len(frame))))

    def problem(self, design: Design) -> Problem:
        """What the mechanism is told."""
        frame = self.prediction_frame()
        x_new = design.predictors(frame) if len(frame) else np.empty((0, len(design.names)))
        return Problem(
            design.low,
            design.high,
            *design.response_bounds,
            design.intercept,
            self.neighbors,
            self.row_norm,
            bool(self.estimated),
            x_new,
        )
