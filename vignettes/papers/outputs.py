"""Where the outputs fall on one data set (Alabi et al. 2022, figures 8 and 9)."""

import numpy as np
import pandas as pd

from dpstats.evaluate import ols_reference, predictions
from vignettes.papers.page import Study, number, percent, simple_methods
from vignettes.papers.pictures import axes, distribution, legend

SMALL_DELTA = 2.0**-30
# n and n var(x) of the paper's carbon nanotubes, at epsilon = 1.
PAPER_TUBES = "n = 10,683 and n var(x) = 889.2"


def stock(study: Study) -> None:
    """Figure 8: stock exchange."""
    rows = unit_square(study.rows("istanbul_stock"), "ise_tl", "ise_usd").head(250)
    study.page.write(
        "Stock exchange (Alabi et al. 2022, figure 8)",
        f"Daily returns of the Istanbul exchange in dollars on those in lira, {len(rows)} days as "
        "in the paper (the first of the set; which days the paper took is not said), both scaled "
        f"to [0, 1]; n var(x) = {_scatter(rows):.1f}.",
    )
    releases = study.times(100)
    table = _outputs(rows, simple_methods(), 2, releases)
    _show(study, rows, {"epsilon = 2": table}, "stock")
    study.page.write(
        "Paper (curves without numbers): exp_theil_sen is within the standard error most often. "
        f"Ours: {_best(rows, table)}.",
    )


def nanotubes(study: Study) -> None:
    """Figure 9: carbon nanotubes."""
    rows = study.rows("carbon_nanotubes").rename(columns={"u0": "x", "u": "y"})[["x", "y"]]
    rows = rows[rows.ge(0).all(axis=1) & rows.le(1).all(axis=1)]
    study.page.write(
        "Carbon nanotubes (Alabi et al. 2022, figure 9)",
        "The u-coordinate of atoms after the calculation on the one before, a line with almost no "
        f"scatter; n = {len(rows):,} and n var(x) = {_scatter(rows):.1f} (paper: {PAPER_TUBES}; "
        "the copies of the data differ by a few rows). The Theil-Sen methods take one matching. "
        "The right-hand picture has a small epsilon and a wide output range for the Theil-Sen "
        "methods: [-2, 3], the widest that dpstats takes; the paper has [-50, 50].",
    )
    releases = study.times(100)
    tables = {
        "epsilon = 1": _outputs(rows, simple_methods(k=1), 1, releases),
        "epsilon = 0.01": _outputs(
            rows, simple_methods(k=1, output_range=(-2, 3)), 0.01, releases
        ),
    }  # fmt: skip
    _show(study, rows, tables, "nanotubes")
    strong, weak = (_best(rows, table) for table in tables.values())
    study.page.write(
        "Paper: at epsilon = 1 exp_theil_sen is best, wide_theil_sen suffers from a theta above "
        "the standard error, and noisy_stats does poorly although epsilon n var(x) is large, "
        "since it cannot make use of so little scatter; at epsilon = 0.01 noisy_stats and gradient "
        f"descent do better than Theil-Sen. Ours: at epsilon = 1, {strong}; at 0.01, {weak}.",
        "The narrower output range makes the task at 0.01 easier for the Theil-Sen methods than "
        "the paper's, and wide_theil_sen gains most, because nearly all pairs predict a value "
        "within its theta of the median.",
    )


def unit_square(rows: pd.DataFrame, x: str, y: str) -> pd.DataFrame:
    """Two columns, scaled linearly to [0, 1]."""
    both = rows[[x, y]].set_axis(["x", "y"], axis=1)
    return (both - both.min()) / (both.max() - both.min())


def _scatter(rows: pd.DataFrame) -> float:
    return float(rows["x"].var(ddof=0) * len(rows))


def _outputs(rows: pd.DataFrame, methods: dict, epsilon: float, releases: int) -> pd.DataFrame:
    """Predictions at p25 by method."""
    table = predictions(
        "y ~ x", rows, methods=methods, epsilon=epsilon, delta=SMALL_DELTA, trials=releases,
        bounds={"x": (0, 1), "y": (0, 1)}, seed=1, progress=False, public=True,
    )  # fmt: skip
    return table[table["point"] == "p25"]


def _reference(rows: pd.DataFrame) -> tuple[float, float]:
    """OLS prediction at p25 and its standard error."""
    table = ols_reference("y ~ x", rows, bounds={"x": (0, 1), "y": (0, 1)}, public=True)
    return tuple(table.set_index("term").loc["p25", ["estimate", "std_error"]])


def _distance(rows: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Share within a standard error and median distance in standard errors, by method."""
    estimate, error = _reference(rows)
    off = ((table["prediction"] - estimate).abs() / error).fillna(np.inf)
    by_method = off.groupby(table["method"], sort=False)
    return pd.DataFrame({"within": by_method.agg(lambda o: (o <= 1).mean()),
                         "median": by_method.median()})  # fmt: skip


def _best(rows: pd.DataFrame, table: pd.DataFrame) -> str:
    """The methods with the smallest and the next median distance, in words."""
    nearest = _distance(rows, table)["median"].sort_values()
    first, second = nearest.index[:2]
    return (
        f"{first} is nearest to OLS (median distance {number(nearest[first])} standard errors), "
        f"then {second} ({number(nearest[second])})"
    )


def _show(study: Study, rows: pd.DataFrame, tables: dict, name: str) -> None:
    """Distribution functions beside the OLS prediction, and a table."""
    estimate, error = _reference(rows)
    figure, places = axes(len(tables))
    for ax, (title, table) in zip(places, tables.items(), strict=True):
        ax.axvspan(estimate - error, estimate + error, color="0.85")
        ax.axvline(estimate, color="0.5", linewidth=0.8)
        for method, part in table.groupby("method", sort=False):
            distribution(ax, part["prediction"].to_numpy(), method)
        near = table["prediction"].quantile([0.2, 0.8])
        reach = max(8 * error, (near - estimate).abs().max())
        ax.set(xlim=(estimate - reach, estimate + reach), xlabel="released p25", title=title)
        ax.locator_params(axis="x", nbins=4)
    places[0].set_ylabel("share of releases")
    legend(figure, places[0])
    study.page.picture(figure, name, "Distribution of the released p25; grey: OLS, one s.e.")
    for title, table in tables.items():
        summary = _distance(rows, table)
        study.page.write(
            f"{title}, OLS p25 = {estimate:.4f} with a standard error of {error:.2g}; distances "
            "from it in standard errors:"
        )
        study.page.table(
            ("method", "within one", "median distance"),
            [(m, percent(r["within"]), number(r["median"])) for m, r in summary.iterrows()],
        )
