"""Print several regressions in one table, as statsmodels' ``summary_col`` does."""

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import pandas as pd
from statsmodels.iolib.table import SimpleTable
from statsmodels.iolib.tableformatting import fmt_params

from dpstats.errors import ArgumentError
from dpstats.escaping import latex, latex_of
from dpstats.html_tables import html_notes, html_of
from dpstats.privacy import Call, joint_guarantee, relation_name
from dpstats.results.many.columns import Column, column_of
from dpstats.results.many.groups import DPGroupResults
from dpstats.results.many.layout import Layout, checked_layout
from dpstats.results.many.non_private_columns import non_private_column
from dpstats.results.one import DPResults
from dpstats.results.show import Printed
from dpstats.results.show.documents import markdown_of, write_excel, write_word

_TITLE, _MIXED = "Differentially Private Regressions", "Regressions, Private and Not Private"
_WIDTH = 78


def compare(
    *results: DPResults | Sequence[DPResults] | Mapping[str, DPResults] | DPGroupResults,
    names: Sequence[str] | None = None,
    ols: Sequence | Mapping = (),
    stars: bool | Mapping[float, str] = False,
    labels: Mapping[str, str] | None = None,
    keep: Sequence[str] | None = None,
    order: Sequence[str] | None = None,
    notes: str | Sequence[str] | None = None,
) -> "Comparison":
    """Print private regressions side by side, a column each; costs no budget.

    Parameters
    ----------
    *results : DPResults, or one list or mapping of them, or one DPGroupResults
        Results of :func:`dpstats.dp_ols` without ``by=``, or groups such as ``by["a"]``; or what
        it returns for several formulas or with ``by=``, whose names or labels are the headings.
    names : sequence of str, optional
        Headings of the columns, all different, those of ``ols`` last; by default (1), (2) and so
        on.
    ols : sequence or mapping of fits, optional
        Fits that are not private, of statsmodels, linearmodels or pyfixest, in columns of their
        own which say so; keys of a mapping are their headings. For data that may be published.
    stars : bool or mapping of float to str, optional
        Whether stars stand at estimates: ``True`` for * p < 0.1, ** p < 0.05 and *** p < 0.01, or
        symbols by level. P-values count the privacy noise. Where an interval is unbounded or was
        not released there is no star, which a note says.
    labels : mapping of str to str, optional
        What is printed in place of terms; those of terms that no column has are left aside.
    keep : sequence of str, optional
        The coefficients and predictions that are printed; by default all.
    order : sequence of str, optional
        Those that come first, in their order.
    notes : str or sequence of str, optional
        Notes below those about guarantees and gaps, which are always printed.

    Returns
    -------
    Comparison
        Prints as a table, is shown as HTML in a notebook, and has ``frame``, ``to_html()``,
        ``to_latex()``, ``to_markdown()``, ``to_word(path)``, ``to_excel(path)`` and ``plot()``.

    Raises
    ------
    ArgumentError
        For anything else than results of single fits, names that do not fit them, terms that no
        column has, or choices of another type.

    Notes
    -----
    Guarantee: a function of what was released, so nothing is spent. Results from the same
    people spend their budgets together all the same; ``joint_guarantee``, and a note below the
    table, say what they cost together. Columns of ``ols`` have no guarantee.

    Examples
    --------
    >>> import dpstats as dp
    >>> people = dp.simulate.line(5000, seed=1)
    >>> with dp.testing.insecure_seed(1):
    ...     fits = [dp.dp_ols("y ~ x", people, method="adassp", epsilon=epsilon,
    ...                       bounds={"x": (0, 1), "y": (0, 1)}) for epsilon in (1, 4)]
    >>> table = dp.compare(*fits, names=["strict", "lenient"], stars=True, keep=["x"])
    >>> table.frame.query("term == 'x'")["result"].tolist()
    ['strict', 'lenient']
    """
    headings = None
    if len(results) == 1 and isinstance(results[0], Mapping | DPGroupResults):
        pairs = list(results[0].items())
        headings = [_heading(name) for name, _ in pairs]
        results = tuple(result for _, result in pairs)
    elif len(results) == 1 and isinstance(results[0], list | tuple):
        results = tuple(results[0])
    if not results:
        raise ArgumentError("expected at least one result to compare, as in compare(first, second)")
    fits = tuple(map(_checked, results))
    others = tuple(map(non_private_column, _listed(ols)))
    if names is None:
        names = _default_names(headings, len(fits), ols)
    names = checked_names(names, len(fits) + len(others))
    known = _terms((*fits, *others))
    return Comparison(fits, names, others, checked_layout(known, stars, labels, keep, order, notes))


def _listed(ols) -> list:
    """List fits that are not private, or raise ArgumentError."""
    if isinstance(ols, str) or not isinstance(ols, Mapping | Sequence):
        raise ArgumentError(
            "expected ols to be a list of fits or a mapping of them by their headings, as in "
            f"ols=[smf.ols(formula, data).fit()], got a {type(ols).__name__}"
        )
    return list(ols.values()) if isinstance(ols, Mapping) else list(ols)


def _default_names(headings: list[str] | None, count: int, ols) -> list:
    """Number the columns that have no heading of their own by their place."""
    private = [f"({i})" for i in range(1, count + 1)] if headings is None else headings
    others = [f"({i})" for i in range(count + 1, count + len(ols) + 1)]
    return [*private, *(ols if isinstance(ols, Mapping) else others)]


def _terms(columns: Iterable[DPResults | Column]) -> list[str]:
    """List the coefficients of all columns, then their predictions."""
    names, points = zip(*((column.names, column.points) for column in columns), strict=True)
    return list(dict.fromkeys(chain(*names, *points)))


def _heading(name) -> str:
    """Write the name of a formula, or the label of a group of one or several columns."""
    return ", ".join(map(str, name)) if isinstance(name, tuple) else str(name)


def _checked(result) -> DPResults:
    """Return a result of a single fit, or raise ArgumentError."""
    if not isinstance(result, DPResults):
        raise ArgumentError(
            "expected results of dp_ols without by=, as in compare(first, second), or one list or "
            "mapping of them, or groups as in compare(by) or compare(by[label], other), got a "
            f"{type(result).__name__}; fits that are not private go into ols=[...]"
        )
    return result


def checked_names(names, count: int, argument: str = "names") -> tuple[str, ...]:
    """Check the headings of the columns, or raise ArgumentError; by default number them."""
    if names is None:
        return tuple(f"({i})" for i in range(1, count + 1))
    listed = [] if isinstance(names, str) or not isinstance(names, Sequence) else list(names)
    texts = all(isinstance(name, str) and name for name in listed)
    if not texts or len(listed) != count or len(set(listed)) < count:
        raise ArgumentError(f"expected {argument} to list {count} different texts, got {names!r}")
    return tuple(listed)


@dataclass(frozen=True, repr=False)
class Comparison:
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
        # one report is one release, whatever is shown of it
        reports = list({id(each.privacy): each.privacy for each in self.results}.values())
        if len({relation_name(report.neighbors, report.unit) for report in reports}) > 1:
            return None
        return joint_guarantee([Call(r.epsilon, r.delta, r.limit) for r in reports])

    def summary(self) -> str:
        """Write the table as text, with its notes."""
        table = self._table()
        table.title = self._title
        notes = (textwrap.fill(note, _WIDTH) for note in self._notes())
        return "\n".join([table.as_text(), *notes])

    def to_html(self) -> str:
        """Write the table as HTML, with its notes; names are escaped."""
        return f"{html_of(self._table())}\n{html_notes(self._notes())}"

    def to_latex(self) -> str:
        """Write the table as a LaTeX tabular, with its notes and names escaped; needs booktabs."""
        notes = [latex(note) + r" \\" for note in self._notes()]
        return "\n".join([latex_of(self._table()), r"\noindent\footnotesize", *notes])

    def to_markdown(self) -> str:
        """Write the table as Markdown, with its notes; names are escaped."""
        return markdown_of(self._printed())

    def to_word(self, path) -> None:
        """Write a Word document (.docx), which appears whole or not at all; needs python-docx."""
        write_word(self._printed(), path)

    def to_excel(self, path) -> None:
        """Write an Excel workbook (.xlsx), which appears whole or not at all; needs openpyxl."""
        write_excel(self._printed(), path)

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
        terms = self.layout.terms(_terms(columns))
        return [row for term in terms for row in _rows_of(term, columns, self.layout)]

    def _facts(self) -> list[list[str]]:
        """List the facts of each column: response, method, guarantee, rows, status."""
        columns = self.columns.values()
        names = next(iter(columns)).facts  # of a private one, which has them all
        return [[name, *(column.facts.get(name, "") for column in columns)] for name in names]

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
