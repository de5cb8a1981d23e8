"""Tabulate and draw the histograms of a description with matplotlib."""

import math

import numpy as np
import pandas as pd

from dpstats.errors import ArgumentError, NotReleasedError, shown
from dpstats.escaping import drawn
from dpstats.results.show.plot import PRIVATE, title_of

_ACROSS = 3  # variables in a row, where there are no groups
_INCHES = 3.0, 2.2  # of width and height for a picture
_BEYOND = "pale bars hold all beyond"
_LINES = "lines are intervals that hold the noise"
_FULL, _PALE = 0.65, 0.3
_WIDE = 1.1  # times as wide as it is drawn
_COLUMNS = ("count", "std_error", "lower", "upper")


def tabulated(result) -> pd.DataFrame:
    """Tabulate bars of numbers and counts of levels, variables in order."""
    numeric = any(f.level is None and f.statistic == "mean" for _, _, f in result.figures)
    if numeric and not result.bars:
        raise NotReleasedError(
            "histograms were not asked for; dp_describe(..., histogram=True) has them at no cost"
        )
    entries = [(g, n, None, b.left, b.right, b) for g, n, b in result.bars]
    entries += [(g, n, f.level, math.nan, math.nan, f) for g, n, f in result.figures
                if f.statistic == "count"]  # fmt: skip
    order = {name: i for i, name in enumerate(dict.fromkeys(n for _, n, _ in result.figures))}
    rows = []
    for group, name, level, left, right, one in sorted(entries, key=lambda e: order[e[1]]):
        label = {} if result.by is None else {result.by: group}
        values = (one.estimate, one.std_error, one.lower, one.upper)
        place = {"variable": name, "level": level, **label, "left": left, "right": right}
        rows.append(place | dict(zip(_COLUMNS, values, strict=True)))
    return pd.DataFrame(rows)


def histograms(result, figure=None) -> np.ndarray:
    """Draw a picture per variable and group on a figure; return the axes."""
    table = tabulated(result)
    names = list(dict.fromkeys(table["variable"]))
    groups = [None] if result.by is None else list(dict.fromkeys(table[result.by]))
    across = min(_ACROSS, len(names)) if result.by is None else len(groups)
    down = math.ceil(len(names) / across) if result.by is None else len(names)
    figure = _figure(figure, across, down)
    axes = figure.subplots(down, across, squeeze=False)
    of_group = table[result.by] if result.by is not None else pd.Series([None] * len(table))
    pairs = [(name, group) for name in names for group in groups]
    for ax, (name, group) in zip(axes.flat, pairs, strict=False):
        chosen = (table["variable"] == name) & (result.by is None or of_group == group)
        _draw(ax, table[chosen])
        label = "" if group is None else f", {result.by} = {group}"
        ax.set_title(drawn(f"{name}{label}"), fontsize="medium")
    for ax in axes.flat[len(pairs) :]:
        ax.set_visible(False)
    figure.suptitle(title_of(result), fontsize="medium")
    pale = any(patch.get_alpha() == _PALE for ax in axes.flat for patch in ax.patches)
    figure.supxlabel("; ".join([_BEYOND] * pale + [_LINES]), fontsize="small")
    figure.supylabel("count", fontsize="small")
    return axes


def _figure(figure, across: int, down: int):
    """Return the given figure, or a new one, of a size for its pictures."""
    size = max(_INCHES[0] * across, 4.5), _INCHES[1] * down + 1.2
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        message = "plot() needs matplotlib: pip install 'dpstats[plot]'"
        raise ArgumentError(message) from None
    if figure is None:
        return plt.figure(figsize=size, layout="constrained")
    if not hasattr(figure, "set_size_inches"):
        raise ArgumentError(
            "expected figure to be a Figure of matplotlib, on which there are several pictures, as "
            f"in plt.figure(), got {shown(figure)}"
        )
    figure.set_size_inches(*size)
    return figure


def _draw(ax, table) -> None:
    """Draw the bars of one picture; outer ones that are wider than the others are cut and pale."""
    count, low, high = (table[name].to_numpy() for name in ("count", "lower", "upper"))
    if table["level"].notna().any():
        middles, widths, cut = np.arange(len(table)), 0.8, np.zeros(len(table), dtype=bool)
        ax.set_xticks(middles, [drawn(str(level)) for level in table["level"]])
    else:
        middles, widths, cut = _places(table["left"].to_numpy(), table["right"].to_numpy())
    drawn_bars = ax.bar(middles, count, widths, color=PRIVATE, edgecolor="white", linewidth=0.5)
    for patch, is_cut in zip(drawn_bars, cut, strict=True):
        patch.set_alpha(_PALE if is_cut else _FULL)
    ax.vlines(middles, low, high, color="0.2", linewidth=1)
    ax.set_ylim(0, max(float(high.max()), 1.0) * 1.05)
    ax.margins(x=0.02)


def _places(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return middles and widths of bins, and which outer ones are cut, as infinite or wide."""
    inner, whole = right[1:-1] - left[1:-1], right - left
    usual = float(np.median(inner)) if len(inner) else _finite(right[0] - left[0])
    left, right = left.copy(), right.copy()
    if not right[0] - left[0] <= usual:
        left[0] = (right[0] if math.isfinite(right[0]) else 0.0) - usual
    if not right[-1] - left[-1] <= usual:
        right[-1] = left[-1] + usual
    return (left + right) / 2, right - left, whole > _WIDE * (right - left)


def _finite(width: float) -> float:
    return float(width) if math.isfinite(width) else 1.0
