"""Draw the plan of a study: ratios of widths against epsilon."""

import numpy as np

from dpstats.escaping import drawn
from dpstats.planning.plot import COLOURS, MARKERS
from dpstats.results.show.plot import SCALE, axes


def ratios(plan, ax=None):
    """Draw the median ratio of each table, with a gap where it is hidden; return the axes."""
    ax = axes(ax)
    tables = plan.tables
    for i, (name, row) in enumerate(tables[list(plan.epsilons)].iterrows()):
        values = row.replace(np.inf, np.nan)
        colour, marker = COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)]
        label = drawn(str(name)) + " (hidden)" * bool(values.isna().all())
        ax.plot(values.index.to_numpy(float), values, color=colour, marker=marker, label=label)
    ax.axhline(1, color=SCALE, linestyle="--", label="not private")
    ax.set(xscale="log", yscale="log", xlabel="epsilon of the study")
    ax.set_ylabel("width of the median interval / width without privacy")
    from matplotlib.ticker import FixedLocator, LogLocator, NullFormatter

    ax.xaxis.set_major_locator(FixedLocator(list(plan.epsilons)))
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 1.25, 1.5, 2, 3, 5)))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter(NullFormatter())
    ax.set_title(f"{drawn(plan.study)}\nforecast for {plan.n:,} rows")
    ax.legend(frameon=False)
    return ax
