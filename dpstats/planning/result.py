"""The plan of a private regression, as a table, a text and a picture."""

import math
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd
from statsmodels.iolib.table import SimpleTable
from statsmodels.iolib.tableformatting import fmt_params

from dpstats.atomic_write import replacing
from dpstats.errors import ArgumentError
from dpstats.planning.forecast import Forecast, Least

_WIDTH = 78


@dataclass(frozen=True, repr=False)
class Plan:
    """Forecasts from public guesses; no release, and nothing is spent.

    Attributes
    ----------
    formula : str
    n, repetitions : int
        Rows of a table, and how many tables were made up.
    alpha : float
        One minus the level of the intervals.
    terms : tuple of str
        Coefficients and prediction points.
    slopes : tuple of str
        Coefficients but the intercept, unless there is no other.
    guesses : tuple of str
        What was guessed, in words.
    forecasts : tuple of Forecast
    remarks : mapping of str to tuple of str
        By method: why its releases lack something, and what its epsilon stands for where that
        is not usual.
    target : str
        The width asked for, in words; empty without one.
    found : tuple of Least
        Empty without a target width.
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
    found: tuple[Least, ...] = ()

    @property
    def frame(self) -> pd.DataFrame:
        """Tidy: one row a method, epsilon and term; its columns are those of Forecast."""
        return pd.DataFrame(self.forecasts)

    @property
    def least(self) -> pd.DataFrame:
        """The least epsilon by method, with the columns of Least; without a target no rows."""
        return pd.DataFrame(self.found, columns=list(Least.__dataclass_fields__))

    def to_csv(self, path) -> None:
        """Write :attr:`frame`; the file appears whole or not at all."""
        with replacing(path) as beside:
            self.frame.to_csv(beside, index=False)

    def plot(self, term: str | None = None, ax=None):
        """Draw the error of a term against epsilon, a line a method; needs matplotlib.

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

        return errors(self, self._shown(term)[0], ax)

    def summary(self, term: str | None = None) -> str:
        """Forecasts of a term, by default of every slope, as text."""
        frame, shown = self.frame, self._shown(term)
        parts = [f"Forecast of {self.formula} for {self.n:,} rows"]
        parts += [_least_table(self.target, self.found)] if self.found else []
        parts += [_table(name, frame[frame["term"] == name]) for name in shown]
        notes = [textwrap.fill(note, _WIDTH, subsequent_indent="  ") for note in self.notes(term)]
        return "\n".join([*parts, *notes])

    __repr__ = summary

    def _shown(self, term: str | None) -> list[str]:
        """The term, by default the slopes."""
        if term is not None and term not in self.terms:
            raise ArgumentError(f"expected term to be one of {', '.join(self.terms)}, got {term!r}")
        return list(self.slopes) if term is None else [term]

    def notes(self, term: str | None = None) -> list[str]:
        """What the numbers of :meth:`summary` are and rest on, and why some are missing."""
        shown = self._shown(term)
        margin = 196 * math.sqrt(0.25 / self.repetitions)
        others = [name for name in self.terms if name not in shown]
        remarks = [f"{name}: {text}" for name, texts in self.remarks.items() for text in texts]
        return [
            "A forecast from public guesses, not a release: no data were read, nothing is spent.",
            "error: median and 90th percentile of |estimate - guess|; a failed fit is infinitely "
            f"wrong. width, covers, unbounded: of {1 - self.alpha:.0%} intervals.",
            f"From {self.repetitions} made-up tables: shares are uncertain by up to "
            f"{margin:.0f} points.",
            *self.guesses,
            *remarks,
            *([f"Not shown, but in frame: {', '.join(others)}"] if others else []),
        ]


def _table(term: str, rows: pd.DataFrame) -> str:
    """Forecasts of one term as text."""
    columns = {
        "method": rows["method"],
        "epsilon": rows["epsilon"].map(lambda value: "-" if value == math.inf else f"{value:g}"),
        "error": rows["error"].map("{:.3g}".format),
        "90%": rows["error_90"].map("{:.3g}".format),
        "width": rows["width"].map("{:.3g}".format),
        "covers": rows["coverage"].map(_share),
        "unbounded": rows["unbounded"].map(_share),
        "failed": rows["failed"].map(_share),
    }
    title = f"{term} (guess: {rows['truth'].iloc[0]:.4g})"
    return _text(pd.DataFrame(columns).to_numpy().tolist(), list(columns), title)


def _least_table(title: str, found: tuple[Least, ...]) -> str:
    cells = [[one.method, _least(one.epsilon), _least(one.low), _least(one.high)] for one in found]
    headers = ["method", "epsilon", "low", "high"]
    return _text(cells, headers, title)


def _text(cells: list[list[str]], headers: list[str], title: str) -> str:
    style = {**fmt_params, "colwidths": 7, "data_fmts": ["%s"]}
    return SimpleTable(cells, headers=headers, title=title, txt_fmt=style).as_text()


def _least(epsilon: float) -> str:
    return {"nan": "no interval", "inf": "not enough"}.get(f"{epsilon:g}", f"{epsilon:g}")


def _share(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.0%}"
