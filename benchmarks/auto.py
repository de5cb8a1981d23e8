"""method="auto" on every table of a folder, beside other methods without bounds or tuning.

``python -m benchmarks auto --data DIR`` reads DIR/MANIFEST.csv (see benchmarks/tables.py),
fits nine tenths of each table and scores the rest, and writes a page with its tables and
picture to vignettes/auto. No score here has set a constant of a method. Medians are kept as
they come, so that a run that was stopped goes on where it was; a change to the package starts
afresh.
"""

import argparse
import hashlib
import math
import os
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

import dpstats as dp
from benchmarks import autopage
from benchmarks.tables import Task, tasks

EPSILONS = (math.log(3), 1.0, 0.5, 3.0)
DELTA = 1e-5
PRIVATE = {
    "auto": {},
    "shrunken": {"method": "shrunken"},
    "boosted_adassp": {"method": "boosted_adassp"},
    "tukey": {"method": "tukey"},
    "shrunken + kendall": {"method": "shrunken", "select": "kendall"},
    "boosted + kendall": {"method": "boosted_adassp", "select": "kendall"},
    "tukey + kendall": {"method": "tukey", "select": "kendall"},
}
ALONE = ("auto",)
_TERMS = 5
# Tables with fewer rows than this are split as often as this for auto.
SMALL, SMALL_TRIALS = 4000, 50
_KEYS = ["name", "epsilon", "method"]
_COLUMNS = [*_KEYS, "n", "d", "score", "trials", "code"]


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


def scores(task: Task, epsilon: float, trials: int, methods) -> pd.DataFrame:
    """One row a trial and method: the score; beside auto also those of the references."""
    rows = []
    for trial in range(trials):
        fitted, held = task.split(np.random.default_rng(trial))
        found = references(task, fitted, held) if methods == ALONE else {}
        for name in methods:
            if "select" not in PRIVATE[name] or len(fitted.columns) > 2:
                found[name] = private_score(task, fitted, held, epsilon, PRIVATE[name])
        rows += [(trial, name, score) for name, score in found.items()]
    return pd.DataFrame(rows, columns=["trial", "method", "score"])


@dataclass(frozen=True)
class Job:
    """Some methods on one table at one epsilon."""

    task: Task
    epsilon: float
    methods: tuple[str, ...]
    trials: int
    code: str

    @property
    def splits(self) -> int:
        """More for auto where the tenth held out is small, as scores vary more there."""
        small = self.methods == ALONE and len(self.task.frame) < SMALL
        return max(self.trials, SMALL_TRIALS) if small else self.trials

    def is_in(self, known: pd.DataFrame) -> bool:
        """Whether these medians are there, from this code and as many splits or more."""
        same = (known["name"] == self.task.name) & (known["epsilon"] == round(self.epsilon, 6))
        enough = (known["code"] == self.code) & (known["trials"] >= self.splits)
        return bool((same & enough & (known["method"] == self.methods[0])).any())


def medians(job: Job) -> pd.DataFrame:
    """The median score of each method; those of OLS and the constant stand with auto."""
    found = scores(job.task, job.epsilon, job.splits, job.methods)
    median = found.groupby("method")["score"].median().reset_index()
    shape = {"n": len(job.task.frame), "d": len(job.task.frame.columns) - 1}
    public = {"name": job.task.name, "epsilon": round(job.epsilon, 6), **shape}
    return median.assign(**public, trials=job.splits, code=job.code)


def version() -> str:
    """A digest of the package's code."""
    digest = hashlib.sha256()
    for path in sorted(Path(dp.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def jobs(chosen, known: pd.DataFrame) -> list[Job]:
    """What is left to do: everything at the first epsilon, then auto, then the others."""
    found = sorted(tasks(chosen.data, chosen.least, chosen.most), key=lambda t: -len(t.frame))
    code, others = version(), tuple(name for name in PRIVATE if name not in ALONE)
    first, *rest = chosen.epsilons
    groups = [(first, ALONE), (first, others), *((e, m) for m in (ALONE, others) for e in rest)]
    if chosen.only_auto:
        groups = [(e, ALONE) for e in chosen.epsilons]
    every = [Job(t, e, m, chosen.trials, code) for e, m in groups for t in found]
    return [job for job in every if not job.is_in(known)]


def measure(left: list[Job], processes: int, table: Path, known: pd.DataFrame) -> pd.DataFrame:
    """Do the jobs side by side; each one's medians are in the file as soon as it is done."""
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        for done in as_completed([pool.submit(medians, job) for job in left]):
            found = done.result()
            both = pd.concat([known, found]) if len(known) else found
            known = both.drop_duplicates(_KEYS, keep="last")
            known.round({"score": 4}).to_csv(table, index=False)
            print(found.iloc[0].to_dict(), flush=True)
    return known


def main(arguments: list[str]) -> None:
    """Score every table, keep the medians in a CSV file and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks auto", description=__doc__)
    parser.add_argument("--data", required=True, help="folder with a MANIFEST.csv")
    parser.add_argument("--out", default="vignettes/auto")
    parser.add_argument("--least", type=int, default=0, help="rows a table has at least")
    parser.add_argument("--most", type=int, default=10**9, help="rows a table has at most")
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only-auto", action="store_true", help="keep others' earlier medians")
    parser.add_argument("--epsilons", type=float, nargs="+", default=EPSILONS)
    chosen = parser.parse_args(arguments)
    table = Path(chosen.out) / "medians.csv"
    table.parent.mkdir(parents=True, exist_ok=True)
    known = pd.read_csv(table) if table.exists() else pd.DataFrame(columns=_COLUMNS)
    kept = (known["code"] == version()) | (chosen.only_auto & (known["method"] != "auto"))
    known = known[kept]
    known = measure(jobs(chosen, known), chosen.processes, table, known)
    autopage.write(known, table.parent)
