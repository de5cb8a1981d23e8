"""Hold the figures of a description, and show them as a table of a paper."""

import math
import textwrap
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from dpstats.describe import Bar, Figure, quantile_name
from dpstats.engines.labels.stored_labels import restored, stored
from dpstats.errors import NotReleasedError
from dpstats.escaping import save_csv
from dpstats.html_tables import html_notes, html_table
from dpstats.option_checks import refuse_path
from dpstats.privacy import PrivacyReport
from dpstats.results.record import Published
from dpstats.results.show.documents import Printed, PrintedTable
from dpstats.results.show.histograms import histograms, tabulated
from dpstats.results.show.plot_method import plot_method
from dpstats.results.store.shapes import DESCRIPTION
from dpstats.results.store.single import report_from_dict, report_to_dict

_TITLE = "Differentially Private Description"
_WIDTH = 78
_NEVER = {
    "min": "the smallest value is that of one row; ask for quantiles=(0.01,)",
    "max": "the largest value is that of one row; ask for quantiles=(0.99,)",
    "nunique": "one row can bring a new value; declare levels= to count rows by level",
    "histogram": "ask for it by dp_describe(..., histogram=True), at no cost",
}


@dataclass(frozen=True, repr=False, eq=False)
class DPDescription(Published, PrintedTable):
    """Hold counts, means, deviations, quantiles and shares with what noise and sampling do to them.

    Attributes
    ----------
    figures : tuple of (group, variable, Figure)
        The group is None without ``by``.
    by : str or None
    quantiles : tuple of float
    alpha : float
        One minus the level of intervals.
    privacy : PrivacyReport
    notes : tuple of str
        Why intervals are unbounded.
    bars : tuple of (group, variable, Bar)
        Those of numbers, with ``histogram=True``.
    """

    _shape = DESCRIPTION

    figures: tuple[tuple[object, str, Figure], ...]
    by: str | None
    quantiles: tuple[float, ...]
    alpha: float
    privacy: PrivacyReport
    notes: tuple[str, ...] = ()
    bars: tuple[tuple[object, str, Bar], ...] = ()

    @property
    def method(self) -> str:
        """Return ``"describe"``, beside the methods of fits in records and ledgers."""
        return "describe"

    @property
    def formula(self) -> str:
        """Return the columns as ledgers list them, such as ``"describe: wage + educ"``."""
        return f"describe: {' + '.join(dict.fromkeys(name for _, name, _ in self.figures))}"

    @property
    def frame(self) -> pd.DataFrame:
        """Tabulate a row per figure (tidy).

        Columns: ``variable``, ``level`` (of a factor, else None), the name of the group column,
        ``statistic``, ``estimate``, ``std_error``, ``lower``, ``upper`` and ``status``. Intervals
        of means, deviations, quantiles and shares hold noise and sampling; those of ``n``,
        ``missing`` and ``count`` noise alone, as they are about the rows of this table.
        """
        rows = []
        for group, name, figure in self.figures:
            own = asdict(figure)
            label = {} if self.by is None else {self.by: group}
            rows.append({"variable": name, "level": own.pop("level"), **label, **own})
        return pd.DataFrame(rows)

    @property
    def histogram(self) -> pd.DataFrame:
        """Tabulate a row per bin of a number and per level of a factor (tidy).

        Columns: ``variable``, ``level`` (of a factor, else None), the name of the group column,
        ``left`` and ``right`` (of a bin [left, right); the outer ones hold all values beyond, and
        are infinite unless bounds are declared), ``count``, ``std_error``, ``lower`` and ``upper``.
        Counts are at least 0, and intervals hold the noise. NotReleasedError without
        ``histogram=True``.
        """
        return tabulated(self)

    @plot_method
    def plot(self, figure=None):
        """Draw the histograms with the intervals of counts, a picture per variable and group.

        Needs matplotlib and ``histogram=True``. Draws on a matplotlib Figure, by default a new one;
        returns the axes, shape (variables, groups), or without groups (rows, 3).
        """
        return histograms(self, figure)

    @property
    def status(self) -> str:
        """Return ``"ok"`` where every figure may be trusted, else ``"imprecise"``."""
        return "ok" if all(f.status == "ok" for _, _, f in self.figures) else "imprecise"

    def table(self) -> pd.DataFrame:
        """Return Table 1 as papers print it, as texts.

        Without groups a row per variable, or level of a factor, with its mean or share, the
        standard error of that, standard deviation, quantiles and number of values; with groups a
        column for each, with the mean or share and its standard error, and the number of values
        of the first variable; those of others are in :attr:`frame`.
        """
        return self._by_group() if self.by is not None else self._by_statistic()

    def _by_statistic(self) -> pd.DataFrame:
        others = ["sd", *map(quantile_name, self.quantiles), "n", "missing"]
        rows: dict[tuple[str, object], dict[str, str]] = {}
        for _, name, figure in self.figures:
            row = rows.setdefault((name, figure.level), {})
            if figure.statistic in ("mean", "share"):
                row |= {"mean or share": _digits(figure.estimate), "(s.e.)": _error(figure)}
            elif figure.statistic in others:
                row[figure.statistic] = _digits(figure.estimate)
        columns = ["mean or share", "(s.e.)", *others]
        if not self._has_estimates:
            columns = ["n", "missing"]
        table = _table(rows).reindex(columns=columns)
        return table.astype(object).where(table.notna(), "")

    def _by_group(self) -> pd.DataFrame:
        rows: dict[tuple[str, object], dict[str, str]] = {}
        counts: dict[str, str] = {}
        first = self.figures[0][1]
        for group, name, figure in self.figures:
            if figure.statistic in ("mean", "share"):
                cell = f"{_digits(figure.estimate)} {_error(figure)}".strip()
                rows.setdefault((name, figure.level), {})[str(group)] = cell
            elif figure.statistic == "n" and name == first:
                counts[str(group)] = _digits(figure.estimate)
        return pd.concat([_table(rows), pd.DataFrame([counts], [f"n of {first}"])])

    @property
    def _has_estimates(self) -> bool:
        """Tell whether there are means or shares, and not numbers of values alone."""
        return any(figure.statistic in ("mean", "share") for _, _, figure in self.figures)

    def summary(self) -> str:
        """Write the table with its notes as text."""
        notes = self.printed_notes()
        lines = [textwrap.fill(note, _WIDTH, subsequent_indent="    ") for note in notes]
        return "\n".join([_TITLE, self.table().to_string(), *lines])

    __str__ = __repr__ = summary

    def printed_notes(self) -> list[str]:
        """Say what is in parentheses, what is hidden and what is guaranteed."""
        from dpstats.results.show.summary import guarantee

        said = ["standard errors, privacy noise and sampling included, are in parentheses"]
        said = said if self._has_estimates else []
        return [*said, *self.notes, guarantee(self.privacy), *self.privacy.cautions]

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        """Return the headers and the rows of the table."""
        table = self.table()
        rows = [[str(n), *map(str, row)] for n, row in zip(table.index, table.values, strict=True)]
        return ["", *map(str, table.columns)], rows

    def to_html(self, *path) -> str:
        """Write the table as HTML, with its notes; names are escaped."""
        refuse_path("to_html", path)
        headers, rows = self._cells()
        return f"{html_table(rows, headers, _TITLE)}\n{html_notes(self.printed_notes())}"

    _repr_html_ = to_html

    def _printed(self) -> Printed:
        """Lay out the cells for documents."""
        headers, rows = self._cells()
        return Printed(_TITLE, headers, [rows], self.printed_notes())

    def to_csv(self, path) -> None:
        """Write :attr:`frame` to a CSV file, which appears whole or not at all."""
        save_csv(self.frame, path)

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain content for JSON, which :meth:`from_dict` restores."""
        return {
            "figures": [_plain(*entry) for entry in self.figures],
            "by": self.by,
            "quantiles": list(self.quantiles),
            "alpha": self.alpha,
            "privacy": report_to_dict(self.privacy),
            "notes": list(self.notes),
            "bars": [_plain(*entry) for entry in self.bars],
        }

    @classmethod
    def _fields(cls, content: Mapping) -> dict[str, Any]:
        return {
            "figures": tuple(map(_figure, content["figures"])),
            "by": content["by"],
            "quantiles": tuple(content["quantiles"]),
            "alpha": content["alpha"],
            "privacy": report_from_dict(content["privacy"]),
            "notes": tuple(content["notes"]),
            "bars": tuple(map(_bar, content["bars"])),
        }

    def __getattr__(self, name: str):
        if name in _NEVER:
            raise NotReleasedError(f"{name} was not released: {_NEVER[name]}")
        raise AttributeError(
            f"DPDescription has no attribute {name!r}; frame and table() have the figures",
            name=name,
            obj=self,
        )


_NUMBERS = ("estimate", "std_error", "lower", "upper")
_OF_BARS = ("left", "right", *_NUMBERS)


def _plain(group, name: str, figure: Figure | Bar) -> dict[str, Any]:
    """Convert a figure or a bar; a number that JSON has not becomes its text."""
    content = asdict(figure)
    names = _NUMBERS if isinstance(figure, Figure) else _OF_BARS
    numbers = {n: v if math.isfinite(v := content[n]) else str(v) for n in names}
    labels = {"group": group}
    labels |= {"level": figure.level} if isinstance(figure, Figure) else {}
    kept = {n: None if label is None else stored(label) for n, label in labels.items()}
    return {"variable": name, **content, **numbers, **kept}


def _bar(content: Mapping) -> tuple[object, str, Bar]:
    group = None if content["group"] is None else restored(content["group"])
    found = Bar(**{name: float(content[name]) for name in _OF_BARS})
    return group, content["variable"], found


def _figure(content: Mapping) -> tuple[object, str, Figure]:
    own = {name: float(content[name]) for name in _NUMBERS}
    group, level = (
        None if content[name] is None else restored(content[name]) for name in ("group", "level")
    )
    found = Figure(level=level, statistic=content["statistic"], status=content["status"], **own)
    return group, content["variable"], found


def _table(rows: Mapping[tuple[str, object], Mapping[str, str]]) -> pd.DataFrame:
    """Lay out the cells of variables and their levels, a row each; two may be called alike."""
    names = [name if level is None else f"{name}: {level}" for name, level in rows]
    return pd.DataFrame(list(rows.values()), index=names)


def _digits(value: float) -> str:
    """Write a number with four digits, or as a whole one where it has more."""
    if math.isnan(value):
        return ""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"  # noqa: PLR2004


def _error(figure: Figure) -> str:
    return f"({figure.std_error:.2g})" if math.isfinite(figure.std_error) else ""
