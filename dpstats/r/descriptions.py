"""Answer R's dp_describe by the values that R keeps."""

from collections.abc import Sequence
from dataclasses import replace

import dpstats as dp
from dpstats.formula.r.coding import level_label
from dpstats.r.inputs import rows
from dpstats.r.messages import in_r
from dpstats.r.seeds import within
from dpstats.r.serialize import label_in_r, privacy
from dpstats.results import DPDescription

# The names that broom has for the numbers of the frame.
_NUMBERS = {
    "estimate": "estimate", "std_error": "std.error", "lower": "conf.low", "upper": "conf.high",
}  # fmt: skip


class _InR(DPDescription):
    """Write a description as R does: its labels, and its words in notes."""

    def printed_notes(self) -> list[str]:
        """Say what notes say, in the notation of R."""
        return [in_r(note) for note in super().printed_notes()]


def describe_columns(columns, data, *, block=None, subset=None, dates=(), **more) -> dict:
    """Call ``dp_describe`` on columns as R keeps them, or on files, and describe the result.

    ``dates`` are the columns whose numbers are days. ``state`` is the JSON text from which Python
    restores the result.
    """
    more["subset"] = None if subset is None else dp.RFormula(subset)
    return _plain(within(block).run(dp.dp_describe, rows(data), columns, **more), dates)


def _plain(result: DPDescription, dates: Sequence[str]) -> dict:
    frame = result.frame
    notes = (*result.notes, *_of_dates(dates))
    shown = _InR(
        _relabelled(result), result.by, result.quantiles, result.alpha, result.privacy, notes
    )
    table = shown.table()
    return {
        "variable": list(frame["variable"]),
        "level": [_text(level) for level in frame["level"]],
        "statistic": list(frame["statistic"]),
        "groups": [] if result.by is None else [label_in_r(label) for label in frame[result.by]],
        "numbers": {broom: frame[name].astype(float).tolist() for name, broom in _NUMBERS.items()},
        "figure_status": list(frame["status"]),
        "stub": list(map(str, table.index)),
        "headings": list(map(str, table.columns)),
        "cells": [str(cell) for row in table.to_numpy() for cell in row],
        "notes": shown.printed_notes(),
        "html": shown.to_html(),
        "latex": shown.to_latex(),
        "markdown": shown.to_markdown(),
        "status": result.status,
        "privacy": privacy(result.privacy),
        "state": result.to_json(),
        "histogram": _histogram(result),
    }


def _of_dates(names: Sequence[str]) -> list[str]:
    """Say what the numbers of dates count, if there are any."""
    count = "count" if len(names) > 1 else "counts"
    of_numbers = 'as.Date(x, "1970-01-01") makes dates of numbers x'
    return [f"{', '.join(names)} {count} days since 1970-01-01: {of_numbers}"] if names else []


def _histogram(result: DPDescription) -> dict:
    """Describe the bins of numbers and the levels of factors, empty where none were asked for."""
    if not result.bars:
        return {}
    table = result.histogram
    names = {"left": "left", "right": "right", "count": "count", **_NUMBERS}
    names.pop("estimate")
    return {
        "variable": list(table["variable"]),
        "level": [_text(level) for level in table["level"]],
        "groups": [] if result.by is None else [label_in_r(label) for label in table[result.by]],
        "numbers": {broom: table[name].astype(float).tolist() for name, broom in names.items()},
    }


def _relabelled(result: DPDescription) -> tuple:
    """Write groups and levels as R does, such as TRUE."""
    return tuple(
        (None if group is None else level_label(group), name,
         figure if figure.level is None else replace(figure, level=level_label(figure.level)))
        for group, name, figure in result.figures
    )  # fmt: skip


def _text(level) -> str:
    """Write a level as R does, and none as an empty text."""
    return "" if level is None or level != level else level_label(level)
