"""What the sections on many small regressions share: curves, a table and who leads."""

import pandas as pd

from dpstats.evaluate import overview
from vignettes.papers.page import Study, number, percent, simple_methods
from vignettes.papers.pictures import distribution

SMALL_DELTA = 2.0**-30
METHODS = {**simple_methods(), "theil_sen": {"method": "theil_sen"}}


def curves(ax, table: pd.DataFrame, title: str) -> None:
    for method, rows in table.groupby("method", sort=False):
        distribution(ax, rows["ratio"].to_numpy(), method)
    ax.axvline(1, color="0.3", linewidth=0.8, linestyle="--")
    ax.set(xscale="log", xlim=(0.03, 300), xlabel="C-hat(68) / standard error", title=title)


def summary(study: Study, table: pd.DataFrame) -> None:
    """One row a method: the share below 1 and quartiles' middle, best first."""
    lines = overview(table).reset_index().sort_values("within", ascending=False)
    study.page.table(
        ("method", "share below 1", "median", "releases that failed"),
        [
            (line.method, percent(line.within), number(line.median_ratio), percent(line.failed))
            for line in lines.itertuples()
        ],
    )


def say_best(study: Study, table: pd.DataFrame, where: str) -> None:
    """Whether exp_theil_sen leads, as in the paper, whose curves carry no numbers."""
    lines = overview(table).reset_index().set_index("method")
    private = lines["within"][~lines.index.str.contains("not private")]
    first, exp = private.idxmax(), "exp_theil_sen"
    other = "" if first == exp else f"{percent(private[first])} with {first}, "
    study.page.write(
        f"Paper (curves without numbers): {exp} is the best private method. {where}: privacy costs "
        f"less than sampling in {other}{percent(private[exp])} with {exp}. Theil-Sen without any "
        "noise already has a median distance from OLS of "
        f"{number(lines.loc['theil_sen (not private)', 'median_ratio'])} standard errors, of the "
        f"{number(lines.loc[exp, 'median_ratio'])} that {exp} has."
    )
