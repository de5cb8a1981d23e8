"""Draw coefficients with their intervals, any number of them, of one fit or of several."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpstats.escaping import drawn
from dpstats.results.show.plot import PRIVATE, REFERENCE, axes, nothing, title_of

# Okabe and Ito's palette after its blue, told apart under every kind of colour blindness.
_COLOURS = (PRIVATE, "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_TERM, _INTERVAL, _LETTER = 0.24, 0.14, 0.08  # inches of a term, an interval and a letter
_PLACE = {"loc": "upper right", "bbox_to_anchor": (1, 0), "borderaxespad": 4}  # of the legend
_LONG = 30  # letters of a name that has a line of the legend of its own
_MARKERS = ("o", "s", "D", "^", "v")  # the first for private fits
_HIDDEN = "hollow: no bounded interval"


@dataclass(frozen=True, eq=False)
class Intervals:
    """Hold what is drawn of one fit.

    Attributes
    ----------
    name : str
        In the legend; empty for none.
    table : pandas.DataFrame
        A row per term; columns ``estimate``, ``lower`` and ``upper``.
    private : bool
    """

    name: str
    table: pd.DataFrame
    private: bool = True


def coefficients(result, ax=None):
    """Draw the coefficients of a fit with their 95% intervals, from top to bottom."""
    table = result.conf_int().set_axis(["lower", "upper"], axis=1).assign(estimate=result.params)
    names = list(result.names)
    if np.isnan(table["estimate"]).all():
        ax = axes(ax)
        ax.set(title=title_of(result))
        return nothing(ax, f"status {result.status}")
    return draw_intervals([Intervals("", table)], names, names, title_of(result), ax)


def draw_intervals(
    fits: Sequence[Intervals], terms: Sequence[str], labels: Sequence[str], title: str, ax=None
):
    """Draw terms from top to bottom, in each those of the fits that have it; return the axes.

    The frame is that of the bounded intervals. Estimates without one are hollow, for the noise may
    account for all of where they are; where it is unbounded it is dotted up to the frame.
    """
    width = max(6, 4 + _LETTER * max(map(len, labels), default=0))
    ax = axes(ax, width=width, height=max(2.4, 1.6 + len(terms) * (_TERM + _INTERVAL * len(fits))))
    styles = _styles(fits)
    ax.set(title=title, xlabel="estimate, 95% interval", xlim=_frame(fits, terms))
    ax.set(yticks=range(len(terms)), yticklabels=list(map(drawn, labels)))
    ax.set_ylim(len(terms) - 0.5, -0.5)
    ax.axvline(0, color="0.4", linewidth=1, linestyle=":", zorder=0)
    for i, fit in enumerate(fits):
        step = 0.8 / len(fits)
        _draw_fit(ax, fit, terms, step * (i - (len(fits) - 1) / 2), *styles[i])
    if names := ax.get_legend_handles_labels()[1]:
        ax.legend(**_PLACE, ncols=1 if max(map(len, names)) > _LONG else 2, frameon=False)
    return ax


def _styles(fits: Sequence[Intervals]) -> list[tuple[str, str]]:
    """Give private fits colours of the palette, and others grey and markers of their own."""
    place = np.cumsum([fit.private for fit in fits]) - 1
    other = np.cumsum([not fit.private for fit in fits]) - 1
    return [
        (_COLOURS[place[i] % len(_COLOURS)], _MARKERS[0])
        if fit.private
        else (REFERENCE, _MARKERS[1 + other[i] % (len(_MARKERS) - 1)])
        for i, fit in enumerate(fits)
    ]


def _frame(fits: Sequence[Intervals], terms: Sequence[str]) -> tuple[float, float]:
    """Return the widened range of bounded intervals and 0, or of estimates where none is."""
    rows = pd.concat([fit.table.reindex(terms) for fit in fits])[["estimate", "lower", "upper"]]
    values = rows.to_numpy()
    bounded = np.isfinite(values).all(axis=1)
    shown = values[bounded] if bounded.any() else values[:, :1][np.isfinite(values[:, :1])]
    low, high = min(0.0, np.min(shown, initial=0.0)), max(0.0, np.max(shown, initial=0.0))
    margin = 0.06 * (high - low) or 0.05
    return low - margin, high + margin


def _draw_fit(ax, fit: Intervals, terms: Sequence[str], shift, colour, marker) -> None:
    """Draw the intervals of one fit, at the places of its terms."""
    table = fit.table.reindex(terms)
    place = np.arange(len(terms)) + shift
    estimate, low, high = table[["estimate", "lower", "upper"]].to_numpy().T
    known = np.isfinite(low) & np.isfinite(high)
    open_ended = np.isfinite(estimate) & (np.isinf(low) | np.isinf(high))
    left, right = ax.get_xlim()
    ax.hlines(place[known], low[known], high[known], color=colour, linewidth=1.6)
    ends = np.clip(low, left, right)[open_ended], np.clip(high, left, right)[open_ended]
    ax.hlines(place[open_ended], *ends, color=colour, linewidth=1.2, linestyle=":")
    name = drawn(fit.name) or None
    ax.scatter(estimate[known], place[known], color=colour, marker=marker, s=22, zorder=3)
    if name:
        ax.scatter([], [], color=colour, marker=marker, s=22, label=name)
    hollow = np.isfinite(estimate) & ~known
    if hollow.any():
        style = {"fc": "white", "ec": colour, "marker": marker, "s": 22, "zorder": 3}
        told = _HIDDEN in ax.get_legend_handles_labels()[1]
        ax.scatter(estimate[hollow], place[hollow], label=None if told else _HIDDEN, **style)
