"""Boosted AdaSSP against AdaSSP at fixed clips (Tang et al. 2023, figure 1)."""

import numpy as np
import pandas as pd

from vignettes.papers.page import Study, number
from vignettes.papers.pictures import axes
from vignettes.papers.splits import PAPER, TASKS, median_r2, median_r2_of_ols, prepared

ROUNDS = 100


def section(study: Study) -> None:
    """Write R^2 of both methods with C = tau = 1, and one picture."""
    repeats = study.times(10)
    tasks = {label: task for label, task in TASKS.items() if study.there(task.name)}
    study.page.write(
        "Fixed clips (Tang et al. 2023, figure 1)",
        f"Both methods with C = tau = 1 and T = {ROUNDS} whatever the units of a table: features "
        "as they are, rows clipped to norm 1, when fitted and when predicted as in the authors' "
        "code; adassp clips responses to [-1, 1], boosted_adassp residuals. Median R^2 on the test "
        f"rows of {repeats} random splits, nine to one, at epsilon = ln 3 and delta = 10^-5; `OLS` "
        "has the rows without a clip. The paper's figure has no numbers; those of "
        "boosted_adassp at these clips are from Gillenwater et al. (2023), figure 4.",
    )
    results = {label: _result(study, task, repeats) for label, task in tasks.items()}
    study.page.table(
        ("task", "OLS", "adassp", "boosted_adassp, paper", "boosted_adassp, ours"),
        [
            (
                task,
                number(row["ols"]),
                number(row["adassp"]),
                number(PAPER.loc[task, "boosted_adassp"]),
                number(row["boosted_adassp"]),
            )
            for task, row in results.items()
        ],
    )
    _picture(study, results)
    _verdict(study, results)


def _result(study: Study, task, repeats: int) -> dict[str, float]:
    X, y = prepared(study, task)
    calls = {name: unit_clips(name, y) for name in ("adassp", "boosted_adassp")}
    return {
        "largest": float(y.abs().max()),
        "ols": median_r2_of_ols(X, y, repeats),
        **median_r2(clipped(X), y, calls, repeats),
    }


def clipped(X: pd.DataFrame) -> pd.DataFrame:
    """A constant and the rows clipped to norm 1, divided by sqrt(2) so that C = 1 holds."""
    shrunk = X.div(np.maximum(np.linalg.norm(X, axis=1), 1), axis=0)
    shrunk.insert(0, "one", 1.0)
    return shrunk / np.sqrt(2)


def unit_clips(method: str, y: pd.Series) -> dict:
    """The call with C = tau = 1 in the table's own units.

    The option tau of boosted_adassp is a multiple of the bound on the response, which
    otherwise does not matter: here it is the largest response, or 0.1 where that is less.
    """
    if method == "adassp":
        return {"method": method, "row_norm": 1, "bounds": {"y": (-1, 1)}}
    bound = max(float(y.abs().max()), 0.1)
    call = {"method": method, "row_norm": 1, "bounds": {"y": (-bound, bound)}}
    return {**call, "tau": 1 / bound, "rounds": ROUNDS}


def _picture(study: Study, results: dict) -> None:
    figure, (ax,) = axes()
    points = [(row["adassp"], row["boosted_adassp"]) for row in results.values()]
    ax.plot(*np.clip(np.transpose(points), -1, None), "o", color="#0072B2", markersize=4)
    ax.plot((-1, 1), (-1, 1), color="0.6", linewidth=0.8)
    ax.set(xlabel="adassp (-1: or less)", ylabel="boosted_adassp (-1: or less)")
    study.page.picture(figure, "clips", "R^2 of boosted_adassp against adassp; on the line equal")


def _verdict(study: Study, results: dict) -> None:
    ahead = [task for task, row in results.items() if row["boosted_adassp"] > row["adassp"]]
    inside = [str(task) for task, row in results.items() if row["largest"] <= 1]
    behind = [str(task) for task in results if task not in ahead]
    above = [t for t in results if results[t]["boosted_adassp"] > PAPER.loc[t, "boosted_adassp"]]
    study.page.write(
        f"boosted_adassp is ahead of adassp on {len(ahead)} of {len(results)} tasks (not on: "
        f"{', '.join(behind) or 'none'}); the paper: substantially better on a majority. The "
        "paper's theory says why: the clip of the response biases adassp when responses exceed 1, "
        "and not boosting, whose residuals come within the clip one round after another. No "
        f"response exceeds 1 on: {', '.join(inside) or 'none'}; there boosting has nothing to gain "
        f"and its noise to lose. Ours is above the printed number on {len(above)} of "
        f"{len(results)} tasks. Why by so much on some is not known: the treatment of the "
        "intercept and the version of the authors' code behind the printed numbers are not given."
    )
