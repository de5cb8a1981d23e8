"""Compare several private regressions in one table, as statsmodels' ``summary_col`` does."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
from statsmodels.iolib.table import SimpleTable
from statsmodels.iolib.tableformatting import fmt_params

from dpstats.errors import ArgumentError
from dpstats.escaping import latex, latex_of
from dpstats.html_tables import html_notes, html_of
from dpstats.privacy import Call, joint_guarantee, relation_name
from dpstats.results.many.groups import DPGroupResults
from dpstats.results.one import DPResults
from dpstats.results.show.summary import figure, guarantee, observations

_TITLE = "Differentially Private Regressions"
_WIDTH = 78


def compare(
    *results: DPResults | Mapping[str, DPResults] | DPGroupResults,
    names: Sequence[str] | None = None,
) -> "Comparison":
    """Put private regressions side by side, a column each; costs no budget.

    Parameters
    ----------
    *results : DPResults, or one mapping of them, or one DPGroupResults
        Results of :func:`dpstats.dp_ols` without ``by=``, or groups such as ``by["a"]``; or what
        it returns for several formulas or with ``by=``, whose names or labels are the headings.
    names : sequence of str, optional
        Headings of the columns, all different; by default (1), (2) and so on.

    Returns
    -------
    Comparison
        Prints as a table, is shown as HTML in a notebook, and has ``frame``, ``to_html()``
        and ``to_latex()``.

    Raises
    ------
    ArgumentError
        For anything else than results of single fits, or names that do not fit them.

    Notes
    -----
    Guarantee: a function of what was released, so nothing is spent. Results from the same
    people spend their budgets together all the same; ``joint_guarantee``, and a note below the
    table, say what they cost together.

    Examples
    --------
    >>> import dpstats as dp
    >>> people = dp.simulate.line(5000, seed=1)
    >>> with dp.testing.insecure_seed(1):
    ...     fits = [dp.dp_ols("y ~ x", people, method="adassp", epsilon=epsilon,
    ...                       bounds={"x": (0, 1), "y": (0, 1)}) for epsilon in (1, 4)]
    >>> table = dp.compare(*fits, names=["strict", "lenient"])
    >>> table.frame.query("term == 'x'")["result"].tolist()
    ['strict', 'lenient']
    """
    if len(results) == 1 and isinstance(results[0], Mapping | DPGroupResults):
        pairs = list(results[0].items())
        names = tuple(_heading(name) for name, _ in pairs) if names is None else names
        results = tuple(result for _, result in pairs)
    if not results:
        raise ArgumentError("expected at least one result to compare, as in compare(first, second)")
    return Comparison(tuple(map(_checked, results)), checked_names(names, len(results)))


def _heading(name) -> str:
    """Write the name of a formula, or the label of a group of one or several columns."""
    return ", ".join(map(str, name)) if isinstance(name, tuple) else str(name)


def _checked(result) -> DPResults:
    """Return a result of a single fit, or raise ArgumentError."""
    if not isinstance(result, DPResults):
        raise ArgumentError(
            "expected results of dp_ols without by=, as in compare(first, second), or one mapping "
            "of them, or groups as in compare(by) or compare(by[label], other), got a "
            f"{type(result).__name__}"
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
    """Hold private regressions to compare, and show them as a table.

    Attributes
    ----------
    results : tuple of DPResults
    names : tuple of str
        Headings of the columns.
    """

    results: tuple[DPResults, ...]
    names: tuple[str, ...]

    @property
    def frame(self) -> pd.DataFrame:
        """Tabulate a row per result and quantity (tidy).

        Columns: ``result`` (its heading), ``term`` (coefficients, then predictions),
        ``estimate``, ``std_error`` (NaN where there is none) and ``status``.
        """
        parts = [
            _quantities(result).rename_axis("term").assign(result=name, status=result.status)
            for name, result in zip(self.names, self.results, strict=True)
        ]
        columns = ["result", "term", "estimate", "std_error", "status"]
        return pd.concat(parts).reset_index().reindex(columns=columns)

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
        table.title = _TITLE
        notes = (textwrap.fill(note, _WIDTH) for note in self._notes())
        return "\n".join([table.as_text(), *notes])

    def to_html(self) -> str:
        """Write the table as HTML, with its notes; names are escaped."""
        return f"{html_of(self._table())}\n{html_notes(self._notes())}"

    def to_latex(self) -> str:
        """Write the table as a LaTeX tabular, with its notes and names escaped; needs booktabs."""
        notes = [latex(note) + r" \\" for note in self._notes()]
        return "\n".join([latex_of(self._table()), r"\noindent\footnotesize", *notes])

    _repr_html_ = to_html

    def __repr__(self) -> str:
        return self.summary()

    def _table(self) -> SimpleTable:
        """Tabulate estimates over standard errors by term, then the facts of each column."""
        rows, headers = self._estimates(), ["", *self.names]
        cells = rows + self._facts()
        table = SimpleTable(cells, headers=headers, txt_fmt=fmt_params)
        table[len(rows)].dec_below = "header_dec_below"
        return table

    def _estimates(self) -> list[list[str]]:
        """List two rows per term: estimates, and standard errors where any result has one."""
        columns = [_quantities(result) for result in self.results]
        listed = [result.names for result in self.results] + [r.points for r in self.results]
        terms = dict.fromkeys(term for names in listed for term in names)
        return [row for term in terms for row in _rows_of(term, columns)]

    def _facts(self) -> list[list[str]]:
        """List the facts of each column: response, method, guarantee, rows, status."""
        facts = {
            "response": lambda result: result.formula.split("~")[0].strip(),
            "method": lambda result: result.method,
            "epsilon": lambda result: f"{result.privacy.epsilon:g}",
            "delta": lambda result: f"{result.privacy.delta:g}",
            "neighbours": lambda r: relation_name(r.privacy.neighbors, r.privacy.unit),
            "n": lambda result: observations(result),
            "R-squared": lambda result: figure(result, "rsquared"),
            "R-squared Adj.": lambda result: figure(result, "rsquared_adj"),
            "status": lambda result: result.status,
            "private": lambda result: "yes" if result.privacy.private else "NO (seeded)",
        }
        return [[name, *map(describe, self.results)] for name, describe in facts.items()]

    def _notes(self) -> list[str]:
        """List notes on standard errors, missing values and results that are not private."""
        notes = ["Standard errors, privacy noise included, are in parentheses where released."]
        by_text: dict[str, list[str]] = {}
        for name, result in zip(self.names, self.results, strict=True):
            for text in _caveats(result):
                by_text.setdefault(text, []).append(name)
        notes += [f"{', '.join(names)}: {text}" for text, names in by_text.items()]
        return notes + [self._together()] * (len(self.results) > 1)

    def _together(self) -> str:
        """Say what the results cost together."""
        if self.joint_guarantee is None:
            return (
                "Results from the same people spend their budgets together; under different "
                "neighbour relations they have no joint epsilon."
            )
        epsilon, delta = self.joint_guarantee
        failing = f" and delta = {delta:.3g}" if delta else ""
        return (
            f"If from the same people, they have epsilon = {epsilon:.4g}{failing} together, "
            "provided that none was chosen by looking at another."
        )


def _caveats(result: DPResults) -> list[str]:
    """Explain what was not released, and state it if the result is not private."""
    stamp = [] if result.privacy.private else [f"NOT PRIVATE, {guarantee(result.privacy)}"]
    return [*stamp, *dict.fromkeys(result.reasons.values())]


def _quantities(result: DPResults) -> pd.DataFrame:
    """Tabulate estimates and standard errors of coefficients and predictions, by term."""
    estimates = pd.concat([result.params, result.predictions])
    errors = pd.concat([result.bse, result.prediction_intervals()["mean_se"]])
    return pd.DataFrame({"estimate": estimates, "std_error": errors})


def _rows_of(term: str, columns: Sequence[pd.DataFrame]) -> list[list[str]]:
    """Build the row of a term's estimates and, where there is any, that of standard errors."""
    cells = [column.loc[term] if term in column.index else None for column in columns]
    estimates = ["" if values is None else f"{values['estimate']:#.4g}" for values in cells]
    errors = [
        "" if values is None or math.isnan(values["std_error"]) else f"({values['std_error']:#.3g})"
        for values in cells
    ]
    return [[term, *estimates], ["", *errors]] if any(errors) else [[term, *estimates]]
