"""Pictures of releases, with matplotlib."""

import numpy as np

from dpstats.errors import ArgumentError, NotReleasedError
from dpstats.schema import Numeric


def _axes(ax):
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ArgumentError("plot() needs matplotlib: pip install 'dpstats[plot]'") from None
    return plt.subplots(figsize=(5, 4.5), layout="constrained")[1] if ax is None else ax


def line(result, ax=None):
    """The fitted line over the range of a single numeric regressor; returns the axes."""
    response, *predictors = result.schema
    kind = result.schema.get(predictors[0]) if len(predictors) == 1 else None
    if not isinstance(kind, Numeric):
        raise NotReleasedError(
            "plot() draws a fit with one numeric regressor; use predict(newdata)"
        )
    ax = _axes(ax)
    x = np.linspace(kind.low, kind.high, 201)
    ax.plot(x, result.predict({predictors[0]: x}))
    ax.set(xlabel=predictors[0], ylabel=response, title=_title(result))
    return ax


def groups(result, ax=None):
    """p25 against p75, one point a group; returns the axes."""
    p25, p75 = result.p25, result.p75
    ax = _axes(ax)
    ax.scatter(p25, p75, s=12, alpha=0.7)
    low, high = np.nanmin([p25, p75]), np.nanmax([p25, p75])
    ax.plot([low, high], [low, high], color="0.7", linewidth=1, zorder=0)
    ax.set(xlabel="p25", ylabel="p75", title=_title(result))
    return ax


def _title(result) -> str:
    report = result.privacy
    stamp = "" if report.private else ", NOT PRIVATE"
    return f"{result.formula}\n{result.method}, epsilon {report.epsilon:g}{stamp}"
