"""Draw releases with matplotlib."""

from typing import Any

import numpy as np

from dpstats.errors import ArgumentError, shown
from dpstats.escaping import drawn
from dpstats.schema import UNLIMITED, Numeric

# Okabe and Ito's blue and vermilion, told apart under every kind of colour blindness.
PRIVATE, SCALE, REFERENCE = "#0072B2", "#D55E00", "0.6"


def has_line(result) -> bool:
    """Tell whether a fit is a line over the range of its only regressor, a numeric one.

    This follows from the formula and from ranges that are public or released.
    """
    formula = result.parsed_formula
    name = formula.predictors[0] if len(formula.predictors) == 1 else None
    kind = result.schema.get(name)
    return formula.absorbed is None and isinstance(kind, Numeric) and kind != UNLIMITED


def line(result, ax=None):
    """Draw the fitted line over the range of the only numeric regressor; return the axes.

    With standard errors, their 95% interval at each point is shaded.
    """
    formula = result.parsed_formula
    name = formula.predictors[0]
    kind = result.schema[name]
    ax = axes(ax)
    ax.set(xlabel=drawn(str(name)), ylabel=drawn(formula.response), title=title_of(result))
    if np.isnan(result.release.params).any():
        return nothing(ax, f"status {result.status}")
    grid = {name: _with_values(result, name, np.linspace(kind.low, kind.high, 201))}
    if not len(grid[name]):
        return nothing(ax, f"no term has a value on the range of {drawn(str(name))}")
    ax.plot(grid[name], result.predict(grid), color=PRIVATE, label="private fit")
    _band(ax, result, grid)
    _quarters(ax, result, str(name), kind)
    ax.legend(frameon=False)
    return ax


def _with_values(result, name: str, x: np.ndarray) -> np.ndarray:
    """Keep the points at which all terms have values: a released range may reach below log's."""
    rows = result.design().predictors({name: x}, may_lack_values=True)
    return x[np.isfinite(rows).all(axis=1)]


def axes(ax, method: str = "plot", width: float = 6, height: float = 4.8) -> Any:
    """Return the given axes, or new ones for a method that draws."""
    try:
        import matplotlib.pyplot as plt
        from matplotlib.axes import Axes
    except ImportError:
        message = f"{method}() needs matplotlib: pip install 'dpstats[plot]'"
        raise ArgumentError(message) from None
    if ax is None:
        return plt.subplots(figsize=(width, height), layout="constrained")[1]
    if not isinstance(ax, Axes):
        raise ArgumentError(f"expected ax to be axes of matplotlib, got {shown(ax)}")
    return ax


def title_of(result) -> str:
    """Write formula, method and guarantee above a picture."""
    report = result.privacy
    delta = f", delta {report.delta:g}" if report.delta else ""
    stamp = "" if report.private else "\nNOT PRIVATE (seeded)"
    said = f"{result.method}, epsilon {report.epsilon:g}{delta}{stamp}"
    return f"{drawn(str(result.formula))}\n{said}"


def nothing(ax, reason: str):
    """Write on empty axes that there is nothing to draw, and why."""
    ax.text(0.5, 0.5, f"nothing to draw: {reason}", ha="center", transform=ax.transAxes)
    ax.set(xticks=[], yticks=[])
    return ax


def _band(ax, result, grid) -> None:
    """Shade the pointwise 95% interval where there is a finite one."""
    table = result.predict(grid, interval=True)
    low, high = table["mean_ci_lower"], table["mean_ci_upper"]
    if not np.isfinite(low + high).any():
        return
    label = "95% interval, privacy noise included"
    (x,) = grid.values()
    ax.fill_between(x, low, high, color=PRIVATE, alpha=0.2, linewidth=0, label=label)


def _quarters(ax, result, name: str, kind: Numeric) -> None:
    """Mark p25 and p75, unless their labels stand for other points of x_new."""
    if not {"p25", "p75"} <= set(result.points):
        return
    x = kind.low + np.array([0.25, 0.75]) * (kind.high - kind.low)
    y = np.array([result.p25, result.p75])
    if len(_with_values(result, name, x)) == len(x) and np.allclose(result.predict({name: x}), y):
        ax.scatter(x, y, color=PRIVATE, zorder=3, label="p25 and p75")
