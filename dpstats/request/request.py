"""One call to dp_ols as public facts, and the rows as its mechanism will see them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from dpstats.engines import Described, Table
from dpstats.engines.parallel_sum import Summary
from dpstats.errors import ArgumentError
from dpstats.formula import Design, Formula
from dpstats.mechanisms.shared import Method, Problem
from dpstats.noise import Noise
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE, Cost, PrivacyReport
from dpstats.range_estimation.estimate import estimate_ranges
from dpstats.schema import UNLIMITED, Batch, Categorical, Numeric, Schema, complete_rows
from dpstats.selection import Candidates, Selector

# Farther bounds have squares and products beyond the range of doubles.
FARTHEST = 1e100
# A range without effect, for columns that are only compared or standardised.
_WIDE = Numeric(-(2.0**100), 2.0**100)
# So many columns are named in a sentence.
_NAMED = 5
_RELATION = {
    ADD_REMOVE: ("neighbours differ by adding or removing one row; the number of rows is private",),
    REPLACE_ONE: (
        "neighbours differ by replacing one row; the number of rows is public",
        "which rows have a missing value is treated as public; they are left out",
    ),
}


@dataclass(frozen=True)
class Selection:
    """A choice of ``k`` of the formula's terms for a share of the budget.

    ``chosen`` are the terms in the order of their choice, None before it is made.
    """

    selector: Selector
    k: int
    share: float
    candidates: tuple[str, ...]
    chosen: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Request:
    """Public facts of one call.

    ``schema`` lacks a range for the variables in ``unbounded``, which are estimated
    from the data within the budget; see :meth:`with_ranges`.
    """

    formula: Formula
    table: Table | Described
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
    selection: Selection | None = None
    plan: str = ""
    formulas: int = 1

    @property
    def whole_call(self) -> tuple[float, float, Cost]:
        """(epsilon, delta) and cost of the call, which fits ``formulas`` at equal costs."""
        if self.formulas == 1:
            return self.epsilon, self.delta, self.cost
        cost = self.cost.part(self.formulas)
        return *cost.guarantee(self.delta), cost

    @property
    def fit_cost(self) -> Cost:
        """What is left for the mechanism once selection and missing bounds are paid for."""
        bounds = self.method.bounds_share if self.estimated or self.unbounded else 0.0
        selection = self.selection.share if self.selection else 0.0
        return self.cost.after(bounds + selection)

    @property
    def share(self) -> float:
        """The share of the cost that is for the method itself, without a companion."""
        return self.cost.share(self.fit_cost) * (1 - self.method.companion_share)

    @property
    def selected(self) -> tuple[str, ...] | None:
        """The selected terms in the order of their choice; None without a selection."""
        return self.selection.chosen if self.selection else None

    def gathered(self, *others: str) -> "Request":
        """This request with its columns and some others in memory, their rows in one order."""
        return replace(self, table=self.table.gathered((*self.schema, *others)))

    def with_terms(self, noise: Noise) -> "Request":
        """This request with the selected terms only, in the formula and in the schema.

        Terms are chosen as wholes, so that a factor keeps all its columns; the intercept
        is not at stake. Missing bounds are not needed for it, and are estimated afterwards
        for the selected terms alone.
        """
        if self.selection is None:
            return self
        selector, k = self.selection.selector, self.selection.k
        cost = self.cost.part(self.selection.share)
        chosen = selector.select(self._candidates(), k, cost, noise)
        return self._keeping(tuple(self.selection.candidates[term] for term in chosen))

    def _candidates(self) -> Candidates:
        """The complete rows as a selector sees them."""
        design = self.wide_design()
        every = range(len(design.names))
        columns = [every[design.terms[term]] for term in self.selection.candidates]
        flat = [j for term in columns for j in term]
        parts = [(X[:, flat], y) for X, y, _ in self.rows(design)]
        X, y = (np.concatenate(part) for part in zip(*parts, strict=True))
        terms = np.repeat(np.arange(len(columns)), [len(term) for term in columns])
        return Candidates(X, y, terms, self.neighbors)

    def wide_design(self) -> Design:
        """The design that clips nothing to a range which is missing or estimated.

        What a selector compares has no range, and rows beyond an estimated one are left to
        the mechanism, which bounds them whatever they are.
        """
        schema = {**self.schema, **dict.fromkeys((*self.unbounded, *self.estimated), _WIDE)}
        return self.formula.design(schema, self.term_bounds)

    def _keeping(self, chosen: tuple[str, ...]) -> "Request":
        """This request for the chosen terms of its formula."""
        formula = self.formula.keep(chosen)
        return replace(
            self,
            formula=formula,
            schema={name: self.schema[name] for name in formula.variables},
            unbounded=tuple(name for name in self.unbounded if name in formula.variables),
            selection=replace(self.selection, chosen=chosen),
        )

    def with_ranges(self, noise: Noise) -> "Request | None":
        """This request with every range known, or None when one that is needed is not.

        The response is worth a quarter of the columns: its range decides over all of them.
        """
        if not self.unbounded:
            return self
        cost, response = self.cost.part(self.method.bounds_share), self.formula.variables[0]
        weights = dict.fromkeys(self.unbounded, 1.0)
        if response in weights:
            weights[response] = max(1.0, len(weights) / 4)
        everywhere = self.method.ranges_everywhere
        ranges = estimate_ranges(
            self.total, weights, cost, noise, self.neighbors, everywhere, response
        )
        if len(ranges.found) < len(weights):
            return None
        plan = "; ".join(filter(None, (self.plan, _rough(ranges.rough))))
        schema = {**self.schema, **ranges.found}
        return replace(self, schema=schema, unbounded=(), estimated=self.unbounded, plan=plan)

    def released_schema(self) -> dict[str, Numeric | Categorical]:
        """The schema, in which a range that could not be released has no ends."""
        return {**self.schema, **dict.fromkeys(self.unbounded, UNLIMITED)}

    def total(self, each: Callable[[Batch], Summary]) -> Summary:
        """The sum of ``each(batch)`` over batches of the complete rows' raw columns."""
        return self.table.total(self.schema, partial(_of_complete, self.schema, each))

    def rows(self, design: Design, codes: np.ndarray | None = None):
        """Batches (X, y, codes) of the complete rows; ``codes`` has one entry a raw row."""
        start = 0
        for batch in self.table.batches(self.schema):
            complete = complete_rows(batch, self.schema)
            X, y = design.rows(_only(batch, complete))
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
        if self.formulas > 1:
            epsilon, delta, _ = self.whole_call
            together = f"epsilon={epsilon:g}" + (f", delta={delta:g}" if delta else "")
            said.append(
                f"one of {self.formulas} formulas fitted to these rows, together at {together}"
            )
        if self.selection:
            said.append(
                f"{self.selection.k} of {len(self.selection.candidates)} terms were selected by "
                f"{self.selection.selector.name}; standard errors take the choice as given"
            )
        return (*self.method.remarks, *said)

    def check(self) -> None:
        """Build the design once on the public schema, so that later it cannot fail."""
        for request in self._to_check():
            request._check_fit()

    def _to_check(self) -> Iterator["Request"]:
        """This request, and with a selection what may become of it."""
        if self.selection is None or not self.method.simple:
            yield self
        if self.selection is not None:
            self.wide_design()
            k, terms = self.selection.k, self.selection.candidates
            sets = [(term,) for term in terms] if self.method.simple else [terms[:k]]
            yield from map(self._keeping, sets)

    def _check_fit(self) -> None:
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


def _rough(rows: Mapping[str, float]) -> str:
    """That the ranges of these columns are rough, and the rows from which they would not be."""
    if not rows:
        return ""
    first, rest = list(rows)[:_NAMED], len(rows) - _NAMED
    named = ", ".join(first) + (f" and {rest} more" if rest > 0 else "")
    return (
        f"too few rows for a histogram of {named} at this epsilon (about {max(rows.values()):,.0f} "
        "would do), so only a middle and a spread were released for a range; bounds= are better"
    )


def _of_complete(schema: Schema, each: Callable[[Batch], Summary], batch: Batch) -> Summary:
    return each(_only(batch, complete_rows(batch, schema)))


def _only(batch: Batch, chosen: np.ndarray) -> Batch:
    """The chosen rows of a batch; where all are chosen they are not copied."""
    if chosen.all():
        return batch
    return {name: column[chosen] for name, column in batch.items()}
