"""method="auto" on every table of a folder, beside other methods without bounds or tuning.

``python -m benchmarks auto --data DIR`` reads DIR/MANIFEST.csv (see benchmarks/tables.py),
fits nine tenths of each table and scores the rest, and writes a page with its tables and
picture to vignettes/auto. Nothing that is scored here has set a constant of a method.
"""

import argparse
import math
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

import dpstats as dp
from benchmarks import autopage
from benchmarks.tables import Task, tasks

EPSILONS = (0.5, 1.0, math.log(3), 3.0)
DELTA = 1e-5
PRIVATE = {
    "auto": {},
    "boosted_adassp": {"method": "boosted_adassp"},
    "tukey": {"method": "tukey"},
    "auto + kendall": {"select": "kendall"},
    "boosted + kendall": {"method": "boosted_adassp", "select": "kendall"},
    "tukey + kendall": {"method": "tukey", "select": "kendall"},
}
_TERMS = 5


def scored(predictions, y: np.ndarray) -> float:
    """R^2 on rows that were not fitted; minus infinity where nothing was released."""
    score = 1 - np.mean((np.asarray(predictions) - y) ** 2) / np.mean((y - y.mean()) ** 2)
    return float(np.nan_to_num(score, nan=-math.inf))


def references(task: Task, fitted: pd.DataFrame, held: pd.DataFrame) -> dict[str, float]:
    """The scores of ordinary least squares and of the mean of the fitted rows."""
    y = held["y"].to_numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # collinear columns are common
        ols = smf.ols(task.formula, fitted).fit().predict(held)
    return {"ols": scored(ols, y), "constant": scored(np.full(len(y), fitted["y"].mean()), y)}


def private_score(task: Task, fitted, held, epsilon: float, call: dict) -> float:
    """The score of one private fit; a choice of five terms needs more than five."""
    if "select" in call:
        call = {**call, "k": min(_TERMS, len(fitted.columns) - 2)}
    result = dp.dp_ols(task.formula, fitted, epsilon=epsilon, delta=DELTA, **call)
    return scored(result.predict(held), held["y"].to_numpy())


def scores(task: Task, epsilons, trials: int, methods) -> pd.DataFrame:
    """One row a trial, epsilon and method: the score."""
    rows = []
    for trial in range(trials):
        fitted, held = task.split(np.random.default_rng(trial))
        public = references(task, fitted, held)
        for epsilon in epsilons:
            found = dict(public)
            for name in methods:
                if "select" not in PRIVATE[name] or len(fitted.columns) > 2:
                    found[name] = private_score(task, fitted, held, epsilon, PRIVATE[name])
            rows += [(trial, epsilon, name, score) for name, score in found.items()]
    return pd.DataFrame(rows, columns=["trial", "epsilon", "method", "score"])


def medians(task: Task, *settings) -> pd.DataFrame:
    """The median score by epsilon and method, with the size of the task."""
    found = scores(task, *settings).groupby(["epsilon", "method"])["score"].median().reset_index()
    return found.assign(name=task.name, n=len(task.frame), d=len(task.frame.columns) - 1)


def main(arguments: list[str]) -> None:
    """Score every table, keep the medians in a CSV file and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks auto", description=__doc__)
    parser.add_argument("--data", required=True, help="folder with a MANIFEST.csv")
    parser.add_argument("--out", default="vignettes/auto")
    parser.add_argument("--least", type=int, default=0, help="rows a table has at least")
    parser.add_argument("--most", type=int, default=10**9, help="rows a table has at most")
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--epsilons", type=float, nargs="+", default=EPSILONS)
    parser.add_argument("--methods", nargs="+", choices=PRIVATE, default=list(PRIVATE))
    chosen = parser.parse_args(arguments)
    found = []
    for task in tasks(chosen.data, chosen.least, chosen.most):
        found.append(medians(task, chosen.epsilons, chosen.trials, chosen.methods))
        print(task.name, len(task.frame), flush=True)
    autopage.write(pd.concat(found), chosen.trials, Path(chosen.out))
