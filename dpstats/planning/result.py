"""Hold the plan of a private regression, and show it as table, text and picture."""

import math
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd
from statsmodels.iolib.table import SimpleTable
from statsmodels.iolib.tableformatting import fmt_params

from dpstats.escaping import save_csv
from dpstats.html_tables import html_notes, html_of
from dpstats.planning.forecast import Forecast, MinimumEpsilon
from dpstats.results.show.plot_method import plot_method
from dpstats.spelling import check_word

# Characters of a line of notes.
_WIDTH = 78


@dataclass(frozen=True, repr=False)
class Plan:
    """Hold forecasts from public guesses; nothing is released and nothing is spent.

    Attributes
    ----------
    formula : str
    n, repetitions : int
        Rows of a table, and number of synthetic tables.
    fewest : int
        Number of tables of the method and epsilon that have the fewest, with ``precision=``.
    alpha : float
        One minus the level of the intervals.
    terms : tuple of str
        Coefficients and prediction points.
    slopes : tuple of str
        Coefficients but the intercept, unless there is no other.
    guesses : tuple of str
        The assumptions, in words.
    forecasts : tuple of Forecast
    remarks : mapping of str to tuple of str
        Notes by method: why numbers are missing, and the meaning of epsilon where it is not
        the usual one.
    target : str
        The width asked for, in words; empty without one.
    minimums : tuple of MinimumEpsilon
        Empty without a target width.
    truth : mapping of str to float
        The assumed coefficients, those that were left out in the call too.
    sd : float
        The assumed standard deviation of the residuals.
    width_error : float
        How unsure the median widths of coefficients are, relative to them: half of a 95% interval,
        of the least certain of them.
    """

    formula: str
    n: int
    repetitions: int
    alpha: float
    terms: tuple[str, ...]
    slopes: tuple[str, ...]
    guesses: tuple[str, ...]
    forecasts: tuple[Forecast, ...]
    remarks: Mapping[str, tuple[str, ...]]
    target: str = ""
    minimums: tuple[MinimumEpsilon, ...] = ()
    truth: Mapping[str, float] = field(default_factory=dict)
    sd: float = math.nan
    fewest: int = 0
    width_error: float = math.nan

    @property
    def frame(self) -> pd.DataFrame:
        """Tabulate a row per method, epsilon and term, with the columns of Forecast (tidy)."""
        return pd.DataFrame(self.forecasts)

    @property
    def least(self) -> pd.DataFrame:
        """Tabulate the minimum epsilon by method; without a target width there are no rows."""
        return pd.DataFrame(self.minimums, columns=list(MinimumEpsilon.__dataclass_fields__))

    @property
    def found(self) -> tuple[MinimumEpsilon, ...]:
        """Return :attr:`minimums`, by its former name."""
        return self.minimums

    def to_csv(self, path) -> None:
        """Write :attr:`frame` to a CSV file, which appears whole or not at all."""
        save_csv(self.frame, path)

    @plot_method
    def plot(self, term: str | None = None, ax=None):
        """Draw the error of a term against epsilon, a line per method; needs matplotlib.

        Parameters
        ----------
        term : str, optional
            By default the first slope.
        ax : matplotlib axes, optional

        Returns
        -------
        matplotlib axes
        """
        from dpstats.planning.plot import errors

        return errors(self, self.shown(term)[0], ax)

    def summary(self, term: str | None = None) -> str:
        """Write the forecasts of a term, by default of every slope, as text."""
        return as_text(
            self.title, self.target, self.least, self.frame, self.shown(term), self.notes(term)
        )

    __repr__ = summary

    def to_html(self, term: str | None = None) -> str:
        """Write :meth:`summary` as HTML; names are escaped."""
        return as_html(
            self.title, self.target, self.least, self.frame, self.shown(term), self.notes(term)
        )

    _repr_html_ = to_html

    @property
    def title(self) -> str:
        """Say what is forecast."""
        return f"Forecast of {self.formula} for {self.n:,} rows"

    def shown(self, term: str | None) -> list[str]:
        """Check the term; by default take the slopes."""
        if term is None:
            return list(self.slopes)
        check_word("term", term, self.terms)
        return [term]

    def notes(self, term: str | None = None) -> list[str]:
        """Explain the numbers of :meth:`summary`, their assumptions, and why some are missing."""
        shown = self.shown(term)
        others = [name for name in self.terms if name not in shown]
        first, *premises = self.premises()
        return [
            first,
            "error: median and 90th percentile of |estimate - guess|; a failed fit is infinitely "
            f"wrong. width, covers, unbounded: of {1 - self.alpha:.0%} intervals.",
            *premises,
            *([f"Not shown, but in frame: {', '.join(others)}"] if others else []),
        ]

    def premises(self) -> list[str]:
        """Say what the numbers rest on, and what there is to know about each method."""
        first, *others = self.grounds()
        return [first, self._tables(), *self._fewer_intervals(), *others]

    def grounds(self) -> list[str]:
        """Say the same without what depends on the number of tables."""
        return [
            "A forecast from public guesses, not a release: no data were read, nothing is spent.",
            *self.guesses,
            *(f"{name}: {text}" for name, texts in self.remarks.items() for text in texts),
        ]

    def _tables(self) -> str:
        """Say how many tables there are, and what that makes uncertain."""
        margin = 196 * math.sqrt(0.25 / self.fewest)
        points = f"percentages are uncertain by up to {margin:.0f} points"
        if self.fewest == self.repetitions:
            return f"From {self.repetitions} synthetic tables: {points}."
        return (
            f"From {self.fewest} to {self.repetitions} synthetic tables, fewer where widths are "
            f"known sooner: {self.accuracy}; {points}, errors too rest on as few."
        )

    @property
    def accuracy(self) -> str:
        """State how uncertain the median widths are."""
        return f"median widths are uncertain by up to {self.width_error:.1%}"

    def _fewer_intervals(self) -> list[str]:
        """Count the tables behind the coverage of intervals, where these are not all."""
        counts = sorted({each.intervals for each in self.forecasts if each.intervals})
        if not counts or counts[0] == self.repetitions:
            return []
        fewest, most = counts[0], counts[-1]
        of = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        margin = min(196 * math.sqrt(0.25 / fewest), 100)
        return [
            f"covers counts the tables with an interval, {of} of {self.repetitions}, and is "
            f"uncertain by up to {margin:.0f} points."
        ]


def as_text(
    title: str, target: str, least: pd.DataFrame, frame: pd.DataFrame, terms: list[str], notes
) -> str:
    """Write a title, the minimum epsilons where there are any, a table per term, and notes."""
    tables = (table.as_text() for table in _tables(target, least, frame, terms))
    lines = (textwrap.fill(note, _WIDTH, subsequent_indent="  ") for note in notes)
    return "\n".join([title, *tables, *lines])


def as_html(
    title: str, target: str, least: pd.DataFrame, frame: pd.DataFrame, terms: list[str], notes
) -> str:
    """Write the forecasts and notes as HTML; names are escaped."""
    tables = map(html_of, _tables(target, least, frame, terms))
    return "\n".join([html_notes([title]), *tables, html_notes(notes)])


def _tables(target: str, least: pd.DataFrame, frame, terms: list[str]) -> list[SimpleTable]:
    """Tabulate the minimum epsilons where there are any, and the forecasts of each term."""
    minimums = [_minimum_table(target, least)] if len(least) else []
    return minimums + [_term_table(name, frame.loc[frame["term"] == name]) for name in terms]


def _term_table(term: str, rows: pd.DataFrame) -> SimpleTable:
    """Tabulate the forecasts of one term, with the sizes of groups where there are any."""
    columns = {
        **{name: rows[name].map("{:,}".format) for name in ("rows", "groups") if name in rows},
        "method": rows["method"],
        "epsilon": rows["epsilon"].map(lambda value: "-" if value == math.inf else f"{value:g}"),
        "error": rows["error"].map("{:.3g}".format),
        "90%": rows["error_90"].map("{:.3g}".format),
        "width": rows["width"].map("{:.3g}".format),
        "covers": rows["coverage"].map(_percentage),
        "unbounded": rows["unbounded"].map(_percentage),
        "failed": rows["failed"].map(_percentage),
    }
    title = f"{term} (guess: {rows['truth'].iloc[0]:.4g})"
    return laid_out(pd.DataFrame(columns).to_numpy().tolist(), list(columns), title)


def _minimum_table(title: str, least: pd.DataFrame) -> SimpleTable:
    """Tabulate the minimum epsilon of each method."""
    columns = {
        name: least[name].map(_epsilon if name in ("epsilon", "low", "high") else str)
        for name in least
    }
    return laid_out(pd.DataFrame(columns).to_numpy().tolist(), list(columns), title)


def laid_out(cells: list[list[str]], headers: list[str], title: str) -> SimpleTable:
    """Lay out cells in the style of statsmodels' parameter tables."""
    style = {**fmt_params, "colwidths": 7, "data_fmts": ["%s"]}
    return SimpleTable(cells, headers=headers, title=title, txt_fmt=style)


def _epsilon(epsilon: float) -> str:
    """Write an epsilon, or why there is none."""
    return {"nan": "no interval", "inf": "not enough"}.get(f"{epsilon:g}", f"{epsilon:g}")


def _percentage(value: float) -> str:
    """Write a proportion as a percentage, "-" for NaN."""
    return "-" if math.isnan(value) else f"{value:.0%}"
