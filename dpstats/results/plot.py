"""Draw releases with matplotlib."""

from itertools import product

import numpy as np

from dpstats.errors import ArgumentError, NotReleasedError
from dpstats.schema import UNLIMITED, Numeric

# Okabe and Ito's blue and vermilion, told apart under every kind of colour blindness.
PRIVATE, SCALE, REFERENCE = "#0072B2", "#D55E00", "0.6"
# More points than this are drawn small and pale.
_MANY = 1000


def line(result, ax=None):
    """Draw the fitted line over the range of the only numeric regressor; return the axes.

    With standard errors, their 95% interval at each point is shaded.
    """
    formula = result.parsed_formula
    if formula.absorbed is not None:
        raise NotReleasedError(
            f"plot() draws predictions, which need the effects of {formula.absorbed}; these are "
            "absorbed and not released"
        )
    name = formula.predictors[0] if len(formula.predictors) == 1 else None
    kind = result.schema.get(name)
    if not isinstance(kind, Numeric):
        raise NotReleasedError("plot() draws one numeric regressor; use predict(newdata)")
    released = not np.isnan(result.release.params).any()
    if kind == UNLIMITED and released:
        raise NotReleasedError(
            f"plot() draws over the range of {name}, which was not declared; use predict(newdata)"
        )
    ax = axes(ax)
    ax.set(xlabel=name, ylabel=formula.response, title=_title(result))
    if not released:
        return _nothing(ax, result)
    grid = {name: np.linspace(kind.low, kind.high, 201)}
    ax.plot(grid[name], result.predict(grid), color=PRIVATE, label="private fit")
    _band(ax, result, grid)
    _quarters(ax, result, str(name), kind)
    ax.legend(frameon=False)
    return ax


def groups(result, ax=None):
    """Draw p25 against p75, a point per group; return the axes.

    With standard errors, a cross shows the size of the median one.
    """
    p25, p75 = result.p25.to_numpy(), result.p75.to_numpy()
    ax = _frame(ax, result, p25, p75)
    _points(ax, p25, p75, "private estimate")
    errors = result.errors[:, result.size :]
    _cross(ax, *(errors[:, result.predictions.columns.get_loc(q)] for q in ("p25", "p75")))
    _finish(ax, p25, p75)
    return ax


def comparison(result, reference, ax=None):
    """Draw private p25 against p75 over non-private ones and their errors; return the axes.

    Parameters
    ----------
    result : DPGroupResults
    reference : pandas.DataFrame
        Of the same groups, from :func:`dpstats.evaluate.ols_reference`.
    """
    by = result.by if isinstance(result.by, str) else list(result.by)
    estimate, error = (
        reference.pivot(index=by, columns="term", values=value).reindex(result.labels)
        for value in ("estimate", "std_error")
    )
    p25, p75 = result.p25.to_numpy(), result.p75.to_numpy()
    ax = _frame(ax, result, np.r_[p25, estimate["p25"]], np.r_[p75, estimate["p75"]])
    ends = np.stack([np.column_stack([p25, p75]), estimate[["p25", "p75"]]], axis=1)
    ax.plot(*ends.T, color="0.75", linewidth=0.8, zorder=1)
    _points(ax, ends[:, 1, 0], ends[:, 1, 1], "OLS, not private", color=REFERENCE, marker="s")
    _points(ax, p25, p75, "private estimate, joined to OLS")
    _cross(ax, error["p25"], error["p75"], "OLS standard error")
    _finish(ax, p25, p75)
    return ax


def axes(ax):
    """Return the given axes, or new ones."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ArgumentError("plot() needs matplotlib: pip install 'dpstats[plot]'") from None
    return plt.subplots(figsize=(6, 4.8), layout="constrained")[1] if ax is None else ax


def _title(result) -> str:
    """Write formula, method and guarantee above a picture."""
    report = result.privacy
    delta = f", delta {report.delta:g}" if report.delta else ""
    stamp = "" if report.private else ", NOT PRIVATE (seeded)"
    return f"{result.formula}\n{result.method}, epsilon {report.epsilon:g}{delta}{stamp}"


def _nothing(ax, result):
    """Write on empty axes that there is no fit to draw."""
    message = f"nothing to draw: status {result.status}"
    ax.text(0.5, 0.5, message, ha="center", transform=ax.transAxes)
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
    if np.allclose(result.predict({name: x}), y):
        ax.scatter(x, y, color=PRIVATE, zorder=3, label="p25 and p75")


def _frame(ax, result, x: np.ndarray, y: np.ndarray):
    """Frame most of the points, so that a few outliers do not squeeze the others."""
    ax = axes(ax)
    response = result.formula.split("~")[0].strip()
    labels = (f"{q} (predicted {response})" for q in ("p25", "p75"))
    ax.set(**dict(zip(("xlabel", "ylabel"), labels, strict=True)), title=_title(result))
    ax.set(xlim=_limits(x), ylim=_limits(y))
    return ax


def _limits(values: np.ndarray) -> tuple[float, float]:
    """Return the widened range of the values within three interquartile ranges of the quartiles."""
    values = values[np.isfinite(values)]
    if not len(values):
        return 0.0, 1.0
    low, high = np.percentile(values, [25, 75])
    reach = 3 * (high - low)
    near = values[(values >= low - reach) & (values <= high + reach)]
    margin = 0.06 * (near.max() - near.min()) or 0.05
    return near.min() - margin, near.max() + margin


def _points(ax, x: np.ndarray, y: np.ndarray, label: str, color=PRIVATE, marker="o") -> None:
    """Draw points, and triangles on the edge for those outside the frame."""
    inside = _inside(x, y, *ax.get_xlim(), *ax.get_ylim())
    many = len(x) > _MANY
    style = {"color": color, "linewidth": 0, "zorder": 2, "rasterized": many}
    size, alpha = (4, 0.3) if many else (16, 0.9)
    ax.scatter(x[inside], y[inside], s=size, alpha=alpha, marker=marker, label=label, **style)
    outside = ~inside & np.isfinite(x + y)
    if outside.any():
        x, y = np.clip(x[outside], *ax.get_xlim()), np.clip(y[outside], *ax.get_ylim())
        label = f"{outside.sum()} outside the frame"
        ax.scatter(x, y, s=30, marker="^", clip_on=False, label=label, **style)


def _inside(x, y, left, right, bottom, top) -> np.ndarray:
    """Mark the points inside a frame."""
    return (x >= left) & (x <= right) & (y >= bottom) & (y <= top)


def _cross(ax, x_errors, y_errors, label: str = "standard error") -> None:
    """Draw a cross of one median standard error a side, in the corner with the fewest points."""
    if np.isnan(x_errors).all() or np.isnan(y_errors).all():
        return
    errors = np.nanmedian([x_errors, y_errors], axis=1)
    start, stop = np.array([ax.get_xlim(), ax.get_ylim()]).T
    reach = 1.2 * errors + 0.02 * (stop - start)
    corners = product(*zip(start + reach, stop - reach, strict=True))
    x, y = min(corners, key=lambda corner: _crowd(ax, corner, reach))
    ax.errorbar(
        x, y, xerr=errors[0], yerr=errors[1], color=SCALE, capsize=3, linewidth=1.5, zorder=4,
        label=f"±1 median {label}",
    )  # fmt: skip


def _crowd(ax, center, reach) -> int:
    """Count the drawn points around a place."""
    points = np.concatenate([drawn.get_offsets() for drawn in ax.collections])
    return int((np.abs(points - np.array(center)) <= reach).all(axis=1).sum())


def _finish(ax, p25: np.ndarray, p75: np.ndarray) -> None:
    """Draw the line p75 = p25 if it is in the frame, the number of missing groups and a legend."""
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    if max(left, bottom) < min(right, top):
        ends = max(left, bottom), min(right, top)
        ax.plot(ends, ends, color="0.4", linewidth=1, linestyle=":", zorder=0, label="p75 = p25")
    absent = int(np.isnan(p25 + p75).sum())
    if absent:
        ax.plot([], [], " ", label=f"{absent:,} of {len(p25):,} not released")
    legend = ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2, frameon=False)
    for handle in legend.legend_handles:
        handle.set_alpha(1)
