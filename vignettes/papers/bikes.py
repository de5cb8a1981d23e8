"""Error bounds over bicycle rentals by month and hour (Alabi et al. 2022, figures 7 and 12)."""

import numpy as np
import pandas as pd

from dpstats.evaluate import error_bounds
from vignettes.papers.groups import METHODS, SMALL_DELTA, curves, say_best, summary
from vignettes.papers.page import Study, number, percent
from vignettes.papers.pictures import COLOURS, axes, legend

# How far wide_theil_sen widens by default, as a share of the range of the response.
THETA = 0.01
# What the paper says of its sets.
PAPER_BIKES = "288 sets of 45 to 62 rows, standard errors from 0.0003 to 0.32"


def section(study: Study) -> None:
    """Write curves and a table, and exp_theil_sen against wide_theil_sen."""
    rows, trials = study.rows("bike_hour"), study.times(12)
    rows["cell"] = rows["mnth"] * 100 + rows["hr"]
    bounds = {name: (rows[name].min(), rows[name].max()) for name in ("temp", "cnt")}
    call = {"by": "cell", "bounds": bounds, "delta": SMALL_DELTA, "trials": trials, "seed": 1}
    call |= {"progress": False, "public": True}
    table = error_bounds("cnt ~ temp", rows, methods=METHODS, epsilon=10, **call)
    table = table[table["point"] == "p25"]
    range_of_y = bounds["cnt"][1] - bounds["cnt"][0]
    scaled = table["standard_error"] / range_of_y
    sizes = rows.groupby("cell").size()
    study.page.write(
        "Bicycle rentals by month and hour (Alabi et al. 2022, figures 7 and 12)",
        "Rentals on temperature, one regression for each of "
        f"{len(sizes)} pairs of month and hour, with {sizes.min()} to {sizes.max()} rows and "
        f"standard errors of p25 from {scaled.min():.4f} to {scaled.max():.2f} of the range of "
        f"rentals (paper: {PAPER_BIKES}). Epsilon = 10, {trials} releases each.",
    )
    figure, places = axes()
    curves(places[0], table, "Bicycles")
    places[0].set_ylabel("share of sets")
    legend(figure, places[0])
    study.page.picture(figure, "bikes", "Distribution of C-hat(68) / standard error over sets")
    summary(study, table)
    say_best(study, table, "These sets")
    widened = ["exp_theil_sen", "wide_theil_sen"]
    table = error_bounds("cnt ~ temp", rows, methods=widened, epsilon=2, **call)
    _wide(study, table[table["point"] == "p25"], range_of_y)


def _wide(study: Study, table: pd.DataFrame, unit: float) -> None:
    """Figure 12: exp_theil_sen against wide_theil_sen by standard error."""
    wide = table.pivot(index="group", columns="method", values="c_hat") / unit
    error = table.groupby("group")["standard_error"].first() / unit
    figure, (ax,) = axes()
    for method in wide:
        ax.plot(error, wide[method], ".", color=COLOURS[method], label=method, markersize=4)
    ax.set(xscale="log", yscale="log", xlabel="standard error of p25", ylabel="C-hat(68)")
    legend(figure, ax)
    study.page.write("At epsilon = 2, by the size of the standard error (paper: figure 12):")
    study.page.picture(figure, "widened", "C-hat(68) against the standard error, by set")
    sizes = pd.cut(error, (0, THETA / 5, THETA, np.inf))
    better = (wide["wide_theil_sen"] < wide["exp_theil_sen"]).groupby(sizes, observed=True)
    study.page.table(
        ("standard error", "sets", "wide has the smaller bound", *(f"{m}, median" for m in wide)),
        [
            (
                f"{size.left:.3f} to {size.right:.3f}" if size.right < 1 else "more",
                len(rows),
                percent(rows.mean()),
                *(number(wide.loc[rows.index, method].median(), 4) for method in wide),
            )
            for size, rows in better
        ],
    )
    study.page.write(
        "The paper: wide_theil_sen can do much better where the standard error is small against "
        f"its widening theta = {THETA}. The pairs' predictions then lie close together, and "
        "exp_theil_sen finds little room there for its weight; the bound of wide_theil_sen stays "
        "about theta. The picture and the first line of the table show the same."
        if better.mean().iloc[0] > 0.5
        else "The paper finds wide_theil_sen much better where the standard error is small; that "
        "is not seen here."
    )
