"""What the sections on the OpenML tasks share: tasks, random splits and R^2 on test rows."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

import dpstats as dp
from vignettes.papers.page import Study

EPSILON, DELTA = math.log(3), 1e-5
# Median test R^2 as printed, by task; minus infinity where the method released nothing.
PAPER = pd.read_csv(Path(__file__).with_name("gillenwater2023_figure4.csv"), index_col="task")
PAPER = PAPER.fillna(-math.inf)


@dataclass(frozen=True)
class Task:
    """An OpenML task: its set, its target, columns that are categories, columns left out."""

    name: str
    target: str
    categories: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


TASKS = {
    361072: Task("oml_361072_cpu_act", "usr"),
    361073: Task("oml_361073_pol", "foo"),
    361074: Task("oml_361074_elevators", "Goal"),
    361076: Task("oml_361076_wine_quality", "quality"),
    361078: Task("oml_361078_houses", "medianhousevalue"),
    361079: Task("oml_361079_house_16H", "price"),
    361085: Task("oml_361085_sulfur", "y1"),
    361089: Task("oml_361089_california", "price"),
    361093: Task("oml_361093_analcatdata_supreme", "target"),
    361096: Task(
        "oml_361096_diamonds_cat", "log1p_price", ("cut", "color", "clarity"), ("price",)
    ),
    361099: Task(
        "bike_hour",
        "cnt",
        ("season", "weathersit"),
        ("instant", "year", "month", "day", "casual", "registered"),
    ),
}  # fmt: skip


def prepared(study: Study, task: Task) -> tuple[pd.DataFrame, pd.Series]:
    """Features, categories as indicators but for the first, and the target, named y."""
    rows = study.rows(task.name).drop(columns=list(task.left_out)).dropna()
    y = rows.pop(task.target).astype(float).rename("y")
    X = pd.get_dummies(rows, columns=list(task.categories), drop_first=True).astype(float)
    return X.set_axis([f"x{j}" for j in range(X.shape[1])], axis=1), y


def median_r2(X: pd.DataFrame, y: pd.Series, calls: Mapping[str, dict], repeats: int) -> dict:
    """Median test R^2 of each call to dp_ols over random splits, nine to one, by label.

    The columns of X are what is fitted, with an intercept unless one is called ``one``.
    """
    formula = f"y ~ {'0 + ' if 'one' in X else ''}{' + '.join(X)}"
    values = {label: [] for label in calls}
    with dp.testing.insecure_seed(1):
        for train, test in split(len(y), repeats):
            rows = pd.concat([X.iloc[train], y.iloc[train]], axis=1)
            for label, call in calls.items():
                fit = dp.dp_ols(formula, rows, epsilon=EPSILON, delta=DELTA, **call)
                fitted = np.asarray(fit.predict(X.iloc[test]))
                values[label].append(r_squared(y.iloc[test].to_numpy(), fitted))
    return {label: float(np.median(each)) for label, each in values.items()}


def median_r2_of_ols(X: pd.DataFrame, y: pd.Series, repeats: int) -> float:
    """The same for least squares with an intercept, not private."""
    design, target = np.column_stack([np.ones(len(y)), X]), y.to_numpy()
    values = []
    for train, test in split(len(y), repeats):
        theta = np.linalg.lstsq(design[train], target[train], rcond=None)[0]
        values.append(r_squared(target[test], design[test] @ theta))
    return float(np.median(values))


def split(n: int, repeats: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Indices of training and test rows, nine to one, at random; the same at every call."""
    rng = np.random.default_rng(1)
    for _ in range(repeats):
        order = rng.permutation(n)
        yield order[n // 10 :], order[: n // 10]


def r_squared(y: np.ndarray, fitted: np.ndarray) -> float:
    """R^2 around the mean of y; minus infinity where there is no fit."""
    if np.isnan(fitted).any():
        return -math.inf
    return 1 - float(np.sum((y - fitted) ** 2) / np.sum((y - y.mean()) ** 2))
