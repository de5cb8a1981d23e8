"""Draw the releases of groups with matplotlib: p25 against p75."""

from itertools import product

import numpy as np

from dpstats.errors import NotReleasedError
from dpstats.escaping import drawn
from dpstats.results.show.plot import PRIVATE, REFERENCE, SCALE, axes, title_of

# More points than this are drawn small and pale.
_MANY = 1000


def groups(result, ax=None):
    """Draw p25 against p75, a point per group; return the axes.

    Points whose intervals are unbounded (``not_identified``) are hollow, for the noise may account
    for all of where they are. With standard errors, a cross shows the size of the median one of
    the full points in the frame.
    """
    if not hasattr(result, "p25"):
        raise NotReleasedError(
            "plot() of groups draws p25 against p75, which exist for one numeric regressor; "
            "result[label].plot() draws the coefficients of one group, and map(shapes, term) one "
            "of all groups"
        )
    p25, p75 = result.p25.to_numpy(), result.p75.to_numpy()
    known = np.array(result.statuses) != "not_identified"
    shown = known if np.isfinite((p25 + p75)[known]).any() else np.ones_like(known)
    ax = _frame(ax, result, p25[shown], p75[shown])
    _points(ax, p25[known], p75[known], "private estimate")
    if np.isfinite((p25 + p75)[~known]).any():
        _points(ax, p25[~known], p75[~known], "not identified", filled=False)
    errors = result.errors[:, result.size :]
    x_errors, y_errors = (errors[:, result.predictions.columns.get_loc(q)] for q in ("p25", "p75"))
    inside = known & _inside(p25, p75, *ax.get_xlim(), *ax.get_ylim())
    _cross(ax, x_errors[inside], y_errors[inside])
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
    inside = _inside(*estimate[["p25", "p75"]].to_numpy().T, *ax.get_xlim(), *ax.get_ylim())
    _cross(ax, error["p25"][inside], error["p75"][inside], "OLS standard error")
    _finish(ax, p25, p75)
    return ax


def _frame(ax, result, x: np.ndarray, y: np.ndarray):
    """Frame most of the points, so that a few outliers do not squeeze the others."""
    ax = axes(ax)
    response = drawn(result.formula.split("~")[0].strip())
    labels = (f"{q} (predicted {response})" for q in ("p25", "p75"))
    ax.set(**dict(zip(("xlabel", "ylabel"), labels, strict=True)), title=title_of(result))
    ax.set(xlim=limits_of(x), ylim=limits_of(y))
    return ax


def limits_of(values: np.ndarray) -> tuple[float, float]:
    """Return the widened range of the values within three interquartile ranges of the quartiles."""
    values = values[np.isfinite(values)]
    if not len(values):
        return 0.0, 1.0
    low, high = np.percentile(values, [25, 75])
    reach = 3 * (high - low)
    near = values[(values >= low - reach) & (values <= high + reach)]
    margin = 0.06 * (near.max() - near.min()) or 0.05
    return near.min() - margin, near.max() + margin


def _points(ax, x, y, label: str, color=PRIVATE, marker="o", filled: bool = True) -> None:
    """Draw points, full or hollow, and triangles on the edge for those outside the frame."""
    inside = _inside(x, y, *ax.get_xlim(), *ax.get_ylim())
    many = len(x) > _MANY
    colours = {"color": color, "linewidth": 0} if filled else {"fc": "none", "ec": color}
    style = {**colours, "zorder": 2, "rasterized": many}
    size, alpha = (4, 0.3) if many else (16, 0.9)
    ax.scatter(x[inside], y[inside], s=size, alpha=alpha, marker=marker, label=label, **style)
    outside = ~inside & np.isfinite(x + y)
    if outside.any():
        x, y = np.clip(x[outside], *ax.get_xlim()), np.clip(y[outside], *ax.get_ylim())
        which = "" if filled else f" and {label}"
        label = f"{outside.sum()} outside the frame{which}"
        ax.scatter(x, y, s=30, marker="^", clip_on=False, label=label, **style)


def _inside(x, y, left, right, bottom, top) -> np.ndarray:
    """Mark the points inside a frame."""
    return (x >= left) & (x <= right) & (y >= bottom) & (y <= top)


def _cross(ax, x_errors, y_errors, name: str = "standard error") -> None:
    """Draw a cross of one median standard error a side, in the corner with the fewest points.

    The errors are those of the points drawn; the label counts them where some have none.
    """
    errors = np.array([x_errors, y_errors])
    known = np.isfinite(errors[0]) & np.isfinite(errors[1])
    if not known.any():
        return
    size = np.median(errors[:, known], axis=1)
    start, stop = np.array([ax.get_xlim(), ax.get_ylim()]).T
    reach = 1.2 * size + 0.02 * (stop - start)
    corners = product(*zip(start + reach, stop - reach, strict=True))
    x, y = min(corners, key=lambda corner: _crowd(ax, corner, reach))
    some = "" if known.all() else f" of {known.sum():,} of {len(known):,} points"
    ax.errorbar(
        x, y, xerr=size[0], yerr=size[1], color=SCALE, capsize=3, linewidth=1.5, zorder=4,
        label=f"±1 median {name}{some}",
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
