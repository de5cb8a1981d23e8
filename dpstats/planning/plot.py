"""Draw a plan: errors against epsilon."""

import textwrap

import numpy as np

from dpstats.escaping import drawn
from dpstats.results.show.plot import SCALE, axes

# Okabe and Ito's colours and as many markers, told apart without colours too.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#000000", "#F0E442")
MARKERS = "osD^vPX"
# Characters of a formula that fit above a picture.
_TITLE = 60


def errors(plan, term: str, ax=None):
    """Draw the median error of a term, and its 90th percentile dotted; return the axes.

    Least squares on the same synthetic tables is a level line. Where a method fails too often
    for a median, its line has a gap.
    """
    ax = axes(ax)
    from matplotlib.ticker import LogLocator, NullFormatter

    rows = plan.frame[plan.frame["term"] == term]
    private = rows[np.isfinite(rows["epsilon"])].replace(np.inf, np.nan)
    for i, (method, curve) in enumerate(private.groupby("method", sort=False)):
        colour, marker = COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)]
        label = f"{method} (mostly fails)" if curve["error"].isna().all() else method
        ax.plot(curve["epsilon"], curve["error"], color=colour, marker=marker, label=label)
        ax.plot(curve["epsilon"], curve["error_90"], color=colour, linewidth=0.8, linestyle=":")
    (ols,) = rows.loc[~np.isfinite(rows["epsilon"]), "error"]
    ax.axhline(ols, color=SCALE, linestyle="--", label="ols (not private)")
    ax.set(xscale="log", yscale="log", xlabel="epsilon", ylabel=f"error of {drawn(term)}")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter(NullFormatter())
    formula = drawn(textwrap.shorten(plan.formula, _TITLE, placeholder=" ..."))
    title = f"{formula}\nforecast for {plan.n:,} rows: median, 90th percentile dotted"
    ax.set_title(title)
    ax.legend(frameon=False)
    return ax
