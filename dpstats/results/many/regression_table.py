"""Hold regressions side by side, and show them as a table, a picture or a document."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pandas as pd
from statsmodels.iolib.table import SimpleTable
from statsmodels.iolib.tableformatting import fmt_params

from dpstats.html_tables import html_notes, html_of
from dpstats.option_checks import refuse_path
from dpstats.privacy import Call, distinct, joint_guarantee, relation_name
from dpstats.results.many.columns import Column, column_of, terms_of
from dpstats.results.many.layout import Layout
from dpstats.results.one import DPResults
from dpstats.results.show import Intervals, Printed
from dpstats.results.show.documents import PrintedTable
from dpstats.results.show.plot_method import plot_method

_TITLE, _MIXED = "Differentially Private Regressions", "Regressions, Private and Not Private"
_WIDTH = 78


@dataclass(frozen=True, repr=False)
class Comparison(PrintedTable):
    """Hold regressions to compare, and show them as a table.

    Attributes
    ----------
    results : tuple of DPResults
    names : tuple of str
        Headings of the columns.
    others : tuple of Column
        Columns that are not private, after those of the results.
    layout : Layout
        What is printed.
    """

    results: tuple[DPResults, ...]
    names: tuple[str, ...]
    others: tuple[Column, ...] = ()
    layout: Layout = Layout()

    @cached_property
    def columns(self) -> dict[str, Column]:
        """Return the columns by their headings."""
        columns = (*map(column_of, self.results), *self.others)
        return dict(zip(self.names, columns, strict=True))

    @property
    def frame(self) -> pd.DataFrame:
        """Tabulate a row per column and quantity (tidy), whatever is printed.

        Columns: ``result`` (its heading), ``term`` (coefficients, then predictions),
        ``estimate``, ``std_error`` (NaN where there is none) and ``status``.
        """
        parts = [
            column.quantities.assign(result=name, status=column.status)
            for name, column in self.columns.items()
        ]
        heads = ["result", "term", "estimate", "std_error", "status"]
        return pd.concat(parts).reset_index().reindex(columns=heads)

    @property
    def joint_guarantee(self) -> tuple[float, float] | None:
        """Return (epsilon, delta) of all results together, if they are from the same people.

        It holds if no call was chosen by looking at another's result. None where they are about
        different neighbour relations. A result that is there twice counts once, and so do the
        groups of one call, which share no row.
        """
        reports = distinct(each.privacy for each in self.results)
        if len({relation_name(report.neighbors, report.unit) for report in reports}) > 1:
            return None
        return joint_guarantee([Call(r.epsilon, r.delta, r.limit) for r in reports])

    def summary(self) -> str:
        """Write the table as text, with its notes."""
        table = self._table()
        table.title = self._title
        notes = (textwrap.fill(note, _WIDTH) for note in self._notes())
        return "\n".join([table.as_text(), *notes])

    def to_html(self, *path) -> str:
        """Write the table as HTML, with its notes; names are escaped."""
        refuse_path("to_html", path)
        return f"{html_of(self._table())}\n{html_notes(self._notes())}"

    @plot_method
    def plot(self, ax=None):
        """Draw the coefficients that are printed with their 95% intervals; needs matplotlib.

        Estimates whose interval is unbounded or was not released are hollow.
        """
        from dpstats.results.show.coefficient_plot import draw_intervals

        columns = self.columns.items()
        fits = [
            Intervals(_legend(*named), named[1].quantities, named[1].private) for named in columns
        ]
        known = {name for _, column in columns for name in column.names}
        terms = [term for term in self._terms() if term in known]
        labels = [self.layout.label(term) for term in terms]
        return draw_intervals(fits, terms, labels, self._title, ax)

    _repr_html_ = to_html

    def __repr__(self) -> str:
        return self.summary()

    @property
    def _title(self) -> str:
        """Say whether all columns are private."""
        return _MIXED if self.others else _TITLE

    def _printed(self) -> Printed:
        """Lay out the cells for documents."""
        parts = [part for part in (self._estimates(), self._facts()) if part]
        return Printed(self._title, ["", *self.names], parts, self._notes())

    def _table(self) -> SimpleTable:
        """Tabulate estimates over standard errors by term, then the facts of each column."""
        rows = self._estimates()
        stubs, *cells = zip(*rows, *self._facts(), strict=True)
        cells = list(zip(*cells, strict=True))
        table = SimpleTable(cells, headers=self.names, stubs=stubs, txt_fmt=fmt_params)
        if rows:
            table[len(rows)].dec_below = "header_dec_below"
        return table

    def _estimates(self) -> list[list[str]]:
        """List two rows per term: estimates, and standard errors where any column has one."""
        columns = list(self.columns.values())
        return [row for term in self._terms() for row in _rows_of(term, columns, self.layout)]

    def _terms(self) -> list[str]:
        """List the terms that are printed."""
        return self.layout.terms(terms_of(self.columns.values()))

    def _facts(self) -> list[list[str]]:
        """List what any column has of response, method, guarantee, rows and status."""
        columns = self.columns.values()
        names = next(iter(columns)).facts  # of a private one, which has them all
        rows = [[name, *(column.facts.get(name, "") for column in columns)] for name in names]
        return [row for row in rows if any(row[1:])]

    def _notes(self) -> list[str]:
        """List notes on standard errors, stars, guarantees and missing values, then the user's."""
        notes = ["Standard errors, privacy noise included, are in parentheses where released."]
        if self.layout.stars:
            notes.append(f"{self.layout.legend()}, privacy noise included.")
        by_text: dict[str, list[str]] = {}
        for name, column in self.columns.items():
            for text in (*column.caveats, *self._without_stars(column)):
                by_text.setdefault(text, []).append(name)
        notes += [f"{', '.join(names)}: {text}" for text, names in by_text.items()]
        return [*notes, *[self._together()] * (len(self.results) > 1), *self.layout.notes]

    def _without_stars(self, column: Column) -> list[str]:
        """Say which terms have no stars because their intervals are hidden."""
        printed = self.layout.terms(column.hidden()) if self.layout.stars else []
        hidden = [self.layout.label(term) for term in printed if term in column.hidden()]
        if not hidden:
            return []
        return [f"no stars at {', '.join(hidden)}, where no bounded interval was released"]

    def _together(self) -> str:
        """Say what the results cost together."""
        who = "the private ones" if self.others else "they"
        if self.joint_guarantee is None:
            return (
                "Results from the same people spend their budgets together; under different "
                "neighbour relations they have no joint epsilon."
            )
        epsilon, delta = self.joint_guarantee
        failing = f" and delta = {delta:.3g}" if delta else ""
        return (
            f"If from the same people, {who} have epsilon = {epsilon:.4g}{failing} together, "
            "provided that none was chosen by looking at another."
        )


def _legend(name: str, column: Column) -> str:
    """Write the heading of a column for a picture, with a stamp where it is not private."""
    if not column.private:
        return f"{name}, not private"
    stamped = column.facts["private"] != "yes"
    return f"{name}, NOT PRIVATE (seeded)" if stamped else name


def _rows_of(term: str, columns: Sequence[Column], layout: Layout) -> list[list[str]]:
    """Build the row of a term's estimates and, where there is any, that of standard errors."""
    cells = [c.quantities.loc[term] if term in c.quantities.index else None for c in columns]
    estimates = ["" if cell is None else _estimate(cell, layout) for cell in cells]
    errors = [
        "" if cell is None or math.isnan(cell["std_error"]) else f"({cell['std_error']:#.3g})"
        for cell in cells
    ]
    rows = [[layout.label(term), *estimates], ["", *errors]]
    return rows if any(errors) else rows[:1]


def _estimate(cell: Mapping[str, float], layout: Layout) -> str:
    """Write an estimate with its stars."""
    return f"{cell['estimate']:#.4g}{layout.symbol(cell['p_value'])}"
