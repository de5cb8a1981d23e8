"""Error bounds over simulated census tracts (Alabi et al. 2022, figure 6)."""

import numpy as np
import pandas as pd

import dpstats as dp
from dpstats.evaluate import error_bounds
from vignettes.papers.groups import METHODS, SMALL_DELTA, curves, say_best, summary
from vignettes.papers.page import Study, percent
from vignettes.papers.pictures import axes, legend

RANKS = {"kid_rank": (0, 1), "parent_rank": (0, 1)}
STATES = {"IL": "Illinois", "NC": "North Carolina"}
# What the paper says of its Illinois.
PAPER_ILLINOIS = (
    "219,594 rows in 3,108 tracts; n var(x) between 0 and 25, for the majority at most 5"
)


def section(study: Study) -> None:
    """Write curves and a table for each state."""
    count, trials = study.times(100), study.times(12)
    study.page.write(
        "Simulated census tracts (Alabi et al. 2022, figure 6)",
        f"The income rank of children on that of their parents in {count} tracts drawn at random "
        "from each simulated state (`dp.simulate`), at epsilon = 16 for the pair (p25, p75), the "
        "predictions for parents at ranks 0.25 and 0.75. C-hat(68) is the distance from the "
        f"prediction of OLS that 68% of {trials} releases for a tract keep to. Where it is less "
        "than the standard error of OLS, privacy costs less than sampling. `mos` is the heuristic "
        "of the Opportunity Atlas, which is not private; it sees the whole state. `theil_sen` has "
        "no noise.",
    )
    figure, places = axes(len(STATES))
    tables = {}
    for ax, (state, name) in zip(places, STATES.items(), strict=True):
        people = dp.simulate.atlas(seed=1, state=state)
        tables[state] = _state(people, count, trials)
        curves(ax, tables[state], name)
        if state == "IL":
            study.page.write(f"Our Illinois has {_size(people)} (paper: {PAPER_ILLINOIS}).")
    places[0].set_ylabel("share of tracts")
    legend(figure, places[0])
    study.page.picture(figure, "tracts", "Distribution of C-hat(68) / standard error over tracts")
    for state, table in tables.items():
        study.page.write(f"{STATES[state]}:")
        summary(study, table)
    say_best(study, tables["IL"], "Our Illinois")
    study.page.write(
        "So where the methods on sums lead here, it is mostly because Theil-Sen estimates "
        "something else than OLS in tracts with so much scatter, not because its noise is large. "
        "The paper's tracts are simulated from constants that it does not print; why their order "
        "differs is not known beyond that."
    )


def _size(people: pd.DataFrame) -> str:
    """Rows, tracts and n var(x) of a state, in words."""
    ranks = people.groupby("tract")["parent_rank"]
    scatter = ranks.var(ddof=0) * ranks.size()
    return (
        f"{len(people):,} rows in {len(scatter):,} tracts; n var(x) between {scatter.min():.0f} "
        f"and {scatter.max():.0f}, at most 5 in {percent((scatter <= 5).mean())}"
    )


def _state(people: pd.DataFrame, count: int, trials: int) -> pd.DataFrame:
    """Error bounds of p25 in some tracts; mos looks at all of them."""
    call = {"by": "tract", "bounds": RANKS, "epsilon": 16, "seed": 1, "public": True}
    call |= {"trials": trials, "delta": SMALL_DELTA, "progress": False}
    chosen = np.random.default_rng(1).choice(people["tract"].max(), count, replace=False) + 1
    some = people[people["tract"].isin(chosen)]
    tables = [
        error_bounds("kid_rank ~ parent_rank", some, methods=METHODS, **call),
        error_bounds("kid_rank ~ parent_rank", people, methods=["mos"], **call),
    ]
    table = pd.concat(tables)
    return table[(table["point"] == "p25") & table["group"].isin(chosen)]
