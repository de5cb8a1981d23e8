"""Describe one call that fits a formula by public facts, checked before a row is read."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from dpstats.call.first_stage import FirstStage
from dpstats.call.outcomes import Outcomes
from dpstats.engines import AnyTable
from dpstats.estimators.contract import Method, Reference
from dpstats.formula import Design, Formula
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE, Cost, PrivacyReport, relation_name
from dpstats.rows import Offset, PrivacyUnit, RowReader, RowsInUse, Subset, Weights
from dpstats.rows.cluster import cluster_note
from dpstats.rows.privacy_unit import ONE
from dpstats.schema import UNLIMITED, Kind, Numeric, Schema
from dpstats.selection import Selector

# A range without effect, for columns that are only compared or standardised.
_WIDE = Numeric(-(2.0**100), 2.0**100)
_UNIT_RELATION = {
    ADD_REMOVE: (
        "neighbours differ by all rows of one {}",
        "how many {} there are is private, and how many rows each has",
    ),
    REPLACE_ONE: (
        "neighbours differ by all rows of one {}, replaced by any others",
        "the number of {} with rows in use is public",
    ),
}
_OF_WEIGHTS = (
    "HC1 and clustered standard errors hold for survey weights, nonrobust ones take a row's error "
    "variance as inverse to its weight, as WLS and lm do"
)
_RELATION = {
    ADD_REMOVE: ("neighbours differ by adding or removing one row; the number of rows is private",),
    REPLACE_ONE: (
        "neighbours differ by replacing one row in use by another: the number of rows is public, "
        "and so is which rows are in use",
    ),
}


@dataclass(frozen=True)
class Selection:
    """Choose ``k`` of the formula's terms for a fraction of the budget.

    ``chosen`` are the terms in the order of their choice, None before it is made.
    """

    selector: Selector
    k: int
    share: float
    candidates: tuple[str, ...]
    chosen: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Request:
    """Hold the public facts of one call for one formula.

    ``schema`` has a placeholder for the variables in ``unbounded``, whose ranges are estimated
    from the data within the budget; ``design`` is what the formula learned from the schema.
    ``rows_seen`` is the number of rows that this released, and its standard deviation;
    ``unsure`` names the variables of which rows may lie far beyond the estimated range. With a
    ``first_stage`` the formula is the reduced form of a regression with instruments, and with
    ``outcomes`` the first of several that one release fits. Rows in use have a value of all terms
    of the designs ``terms``, which clip nothing that was not declared, and no negative response of
    the design ``counts``, which clips none to the range of a column.
    """

    formula: Formula
    table: AnyTable
    method: Method
    epsilon: float
    delta: float
    neighbors: str
    schema: Schema
    design: Design
    unbounded: tuple[str, ...]
    term_bounds: Mapping[str, tuple[float, float]]
    row_norm: float | None
    x_new: pd.DataFrame | None
    options: Mapping[str, Any]
    column_notes: tuple[str, ...]
    cost: Cost
    estimated: tuple[str, ...] = ()
    selection: Selection | None = None
    plan: str = ""
    formulas: int = 1
    reference: Reference | None = None
    weights: Weights | None = None
    subset: Subset | None = None
    unit: PrivacyUnit | None = None
    cluster: str | None = None
    rows_seen: tuple[float, float] | None = None
    unsure: tuple[str, ...] = ()
    released_clipping: Mapping[str, Numeric] = field(default_factory=dict)
    companion_share: float = 0.0
    first_stage: FirstStage | None = None
    offset: Offset | None = None
    outcomes: Outcomes | None = None
    grouped: bool = False
    terms: tuple[Design, ...] = ()
    counts: Design | None = None

    @property
    def whole_call(self) -> tuple[float, float, Cost]:
        """Return (epsilon, delta) and cost of the call, which fits ``formulas`` at equal costs."""
        if self.formulas == 1:
            return self.epsilon, self.delta, self.cost
        cost = self.cost.part(self.formulas)
        return *cost.guarantee(self.delta), cost

    @property
    def fit_cost(self) -> Cost:
        """Return the cost left for the mechanism after selection and missing bounds are paid.

        That of a person who is in several groups is divided by their number.
        """
        estimates = self.estimated or self.unbounded or self.method.ranges.marginals
        bounds = self.ranges_share if estimates else 0.0
        selection = self.selection.share if self.selection else 0.0
        left = self.cost.after(bounds + selection)
        return left if self.unit is None else left.part(1 / self.unit.max_groups)

    @property
    def ranges_share(self) -> float:
        """Return the fraction of the cost that buys missing bounds, once for all groups."""
        return self.method.ranges.bought(self.grouped)

    @property
    def share(self) -> float:
        """Return the fraction of the cost that is for the method itself, without a companion."""
        return self.cost.share(self.fit_cost) * (1 - self.companion_share)

    @property
    def selected(self) -> tuple[str, ...] | None:
        """Return the selected terms in the order of their choice; None without a selection."""
        return self.selection.chosen if self.selection else None

    @property
    def read_rows(self) -> RowReader:
        """Return the map from a batch to the rows that the method takes.

        An absorbed column that is the unit needs no keys.
        """
        by_unit = self.unit is not None
        absorbed = None if by_unit else self.formula.absorbed
        others = [design for _, design in self.regressions[1:]]
        return RowReader(
            self.row_design, self.coded, self.weights, by_unit, absorbed, self.cluster,
            tuple(others), self.offset,
        )  # fmt: skip

    @property
    def regressions(self) -> list[tuple[Formula, Design]]:
        """Return formula and design of each response: its own, a first stage's, outcomes'."""
        first, found = self.first_stage, [(self.formula, self.design)]
        found += [] if first is None else [(first.formula.first_stage, first.design)]
        others = () if self.outcomes is None else self.outcomes.others
        return found + [(other.formula, other.design) for other in others]

    @property
    def released_formula(self) -> str:
        """Return the formula of the coefficients, with instruments that of y on x and d."""
        first = self.first_stage
        return self.formula.text if first is None else first.formula.structural.text

    @property
    def released_design(self) -> Design:
        """Return the design of the coefficients, with instruments that of y on x and d."""
        first = self.first_stage
        return self.design if first is None else first.structural(*self.declared)

    @property
    def texts(self) -> list[str]:
        """Return the formulas of the outcomes as they were written, or the only one."""
        if self.first_stage is not None:
            return [self.first_stage.formula.text]
        others = () if self.outcomes is None else self.outcomes.others
        return [self.formula.text, *(other.formula.text for other in others)]

    @property
    def rows_in_use(self) -> RowsInUse:
        """Return the rule that decides which rows are used."""
        return RowsInUse(
            self.schema, self.weights, self.subset, self.unit, self.cluster, self.offset,
            self.terms, (*self.unbounded, *self.estimated), self.counts,
        )  # fmt: skip

    def with_terms(self) -> "Request":
        """Return the request whose rows in use have a value of all terms, before any is read."""
        free = () if self.method.ranges.marginals else (*self.unbounded, *self.estimated)
        wide = dict.fromkeys(free, _WIDE)
        designs = [design for _, design in self.regressions if design.has_terms]
        terms, counts = tuple(design.with_ranges(wide) for design in designs), None
        if self.method.counts:
            name = self.formula.bare_response  # variables of a term have declared ranges
            counts = self.design.with_ranges({name: _WIDE} if name else {})
        return replace(self, terms=terms, counts=counts)

    @property
    def relation(self) -> str:
        """Name the relation in budgets: losses for persons and for rows do not add up."""
        return relation_name(self.neighbors, self.unit and self.unit.column)

    @property
    def one(self) -> int:
        """Return what a row counts for in a count of rows, or at most all rows of a unit."""
        return 1 if self.unit is None else ONE

    @property
    def coded(self) -> bool:
        """Tell whether the method takes the rows of this design as codes and numbers."""
        return self.method.takes_codes(self.design.layout, self.row_norm)

    @property
    def row_design(self) -> Design:
        """Return the design that clips nothing to a range which is missing or estimated.

        What a selector compares has no range, and rows beyond an estimated one are left to
        the mechanism, which bounds them whatever they are.
        """
        if self.method.ranges.marginals:
            return self.design
        return self.design.with_ranges(dict.fromkeys((*self.unbounded, *self.estimated), _WIDE))

    def keeping(self, chosen: tuple[str, ...]) -> "Request":
        """Reduce the request to the chosen terms of its formula, with the intercept as it is.

        The design is learned anew: how a factor is coded depends on the other terms.
        """
        formula = self.formula.keep(chosen)
        schema = {name: self.schema[name] for name in formula.variables}
        kept = replace(
            self,
            formula=formula,
            schema=schema,
            design=formula.design(
                schema,
                self.term_bounds,
                {name: kind for name, kind in self.clipping.items() if name in schema},
            ),
            unbounded=tuple(name for name in self.unbounded if name in formula.variables),
            selection=self.selection and replace(self.selection, chosen=chosen),
        )
        return kept.with_terms()

    @property
    def clipping(self) -> Mapping[str, Numeric]:
        """Return the ranges that values are clipped to where these are not those of the schema."""
        if not self.method.ranges.marginals:
            return {}
        return dict.fromkeys((*self.unbounded, *self.estimated), UNLIMITED) | dict(
            self.released_clipping
        )

    @property
    def declared(self) -> tuple[Schema, Mapping[str, tuple[float, float]], Mapping[str, Numeric]]:
        """Return what a design is learned from: the schema, bounds of terms, and the clipping."""
        return self.schema, self.term_bounds, self.clipping

    def with_estimated(
        self,
        ranges: Mapping[str, Numeric],
        note: str,
        rows: tuple[float, float],
        unsure: tuple[str, ...],
    ) -> "Request":
        """Fill in missing ranges, a note on them, the rows seen, and columns of uncertain range."""
        return replace(
            self,
            schema={**self.schema, **ranges},
            design=self.design.with_ranges(ranges),
            unbounded=(),
            estimated=self.unbounded,
            rows_seen=rows,
            unsure=unsure,
            plan="; ".join(filter(None, (self.plan, note))),
        )

    def released_schema(self) -> dict[str, Kind]:
        """Return the schema, in which a range that could not be released has no ends."""
        return {**self.schema, **dict.fromkeys(self.unbounded, UNLIMITED)}

    def report(self, events, private: bool, more: tuple[str, ...] = ()) -> PrivacyReport:
        """Build the privacy report of a release that drew these events."""
        return PrivacyReport(
            neighbors=self.neighbors,
            epsilon=self.epsilon,
            delta=self.delta,
            limit=self.cost,
            events=tuple(events),
            assumptions=(*self._assumptions(), *more),
            private=private,
            unit=self.unit and self.unit.column,
            max_rows=self.unit.max_rows if self.unit else 1,
            max_groups=self.unit.max_groups if self.unit else 1,
            together=len(self.texts),
        )

    def _assumptions(self) -> tuple[str, ...]:
        """List in words what the guarantee takes for granted."""
        said = [*relation_in_words(self.neighbors, self.unit)]
        if self.neighbors == REPLACE_ONE:
            said[-1] += f"; {self.rows_in_use.left_out}"
        said.append("column names, column types, declared bounds and declared levels are public")
        said += self.column_notes
        said += [chosen.note for chosen in (self.subset, self.offset) if chosen]
        said += [] if self.weights is None else [f"{self.weights.note}; {_OF_WEIGHTS}"]
        if self.cluster is not None:
            said.append(cluster_note(self.cluster, self.unit))
        if self.formulas > 1:
            epsilon, delta, _ = self.whole_call
            together = f"epsilon={epsilon:g}" + (f", delta={delta:g}" if delta else "")
            said.append(
                f"one of {self.formulas} formulas fitted to these rows, together at {together}"
            )
        if self.outcomes is not None:
            said.append(
                f"the results of {len(self.texts)} formulas are one release, to which epsilon and "
                "delta belong; a row without a value of one of their variables is left out of all"
            )
        if self.selection:
            said.append(
                f"{self.selection.k} of {len(self.selection.candidates)} terms were selected by "
                f"{self.selection.selector.name}; standard errors take the choice as given"
            )
        return (*self.method.assumptions, *said)


def relation_in_words(neighbors: str, unit: PrivacyUnit | None) -> tuple[str, ...]:
    """Say in words which tables are neighbours."""
    if unit is None:
        return "one person contributes one row: the guarantee is row-level", *_RELATION[neighbors]
    changed, number = _UNIT_RELATION[neighbors]
    return unit.note, changed.format(unit.column), number.format(unit.column)
