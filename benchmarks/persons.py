"""How often person-level intervals hold the truth in panels, beside those of row-level fits.

The panels are those of dpstats.simulate.panel; errors and widths are in units of what least squares
with clustered standard errors has on the same rows.
"""

import argparse
import zlib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain, product

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf
from scipy.stats import norm

import dpstats as dp
from benchmarks.tools import print_table
from dpstats.simulate.person_panel import PANEL_LINE

FORMULA = "log_wage ~ education + hours"
BOUNDS = {"log_wage": (0, 5), "education": (8, 20), "hours": (0, 80)}
METHODS = "auto", "adassp"
EPSILONS = 1.0, 4.0
# Mean number of rows of a person, before it is cut to 1 to 50.
ROWS = 8
# By default so many panels, and fewer of large ones, so that all takes about ten minutes.
_PANELS, _MOST_PERSONS = 100, 200_000


@dataclass(frozen=True)
class Cell:
    """Persons with numbers of rows of one shape, whose errors have one intra-class correlation."""

    persons: int
    shape: str
    icc: float


@dataclass(frozen=True)
class Intervals:
    """Hold estimates and intervals of the coefficients in R panels, (R, 3) each."""

    estimates: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @property
    def shown(self) -> np.ndarray:
        """Return which intervals have ends."""
        return np.isfinite(self.low) & np.isfinite(self.high)

    def coverage(self) -> np.ndarray:
        """Return the part of the intervals with ends that holds the truth, by coefficient (3,)."""
        truth = np.array([*PANEL_LINE.values()])
        holds = (self.low <= truth) & (truth <= self.high)
        return _mean_where(holds, self.shown)

    def errors(self, deviations: np.ndarray) -> np.ndarray:
        """Return medians of |error| over those of normal estimates with such deviations, (3,)."""
        errors = (self.estimates - [*PANEL_LINE.values()]) / deviations
        return np.median(np.abs(errors), axis=0) / norm.ppf(0.75)

    def widths(self, others: "Intervals") -> np.ndarray:
        """Return medians of widths over those of others, (3,); infinite where few have ends."""
        return np.median(self.high - self.low, axis=0) / np.median(others.high - others.low, axis=0)


def _mean_where(values: np.ndarray, where: np.ndarray) -> np.ndarray:
    """Return means of columns over some of their entries, NaN for none."""
    return np.where(where, values, 0).sum(axis=0) / np.where(where.any(axis=0), where.sum(axis=0),
                                                             np.nan)  # fmt: skip


def fits(data: pd.DataFrame) -> Iterator:
    """Fit clustered least squares, then every method at every epsilon, with unit= and without."""
    clusters = {"groups": data["person"]}
    yield smf.ols(FORMULA, data).fit(cov_type="cluster", cov_kwds=clusters)
    for method, epsilon, unit in product(METHODS, EPSILONS, ("person", None)):
        yield dp.dp_ols(FORMULA, data, method=method, epsilon=epsilon, bounds=BOUNDS, unit=unit)


def run(cell: Cell, repetitions: int) -> tuple[list[Intervals], np.ndarray]:
    """Fit so many panels of a cell; return what each of ``fits`` has, and clustered s.e. (R, 3)."""
    made, errors = [], []
    for r in range(repetitions):
        seed = zlib.crc32(f"{cell} {r}".encode())
        data = dp.simulate.panel(cell.persons, ROWS, shape=cell.shape, icc=cell.icc, seed=seed)
        with dp.testing.insecure_seed(seed):
            results = list(fits(data))
        errors.append(results[0].bse.to_numpy())
        made.append([np.vstack([fit.params, fit.conf_int().T]) for fit in results])
    each = np.moveaxis(np.array(made), 0, 2)
    return [Intervals(*parts) for parts in each], np.array(errors)


def lines(cell: Cell, repetitions: int | None) -> list[tuple[str, tuple]]:
    """Return the lines of a cell, each with the title of its table."""
    if repetitions is None:
        repetitions = min(_PANELS, max(_MOST_PERSONS // cell.persons, 1))
    (reference, *others), errors = run(cell, repetitions)
    place = f"{cell.persons:,}", cell.shape, f"{cell.icc:g}"
    pairs = zip(others[::2], others[1::2], strict=True)
    return [
        (method, (*place, f"{epsilon:g}", repetitions, *_figures(own, rows, reference, errors)))
        for (method, epsilon), (own, rows) in zip(product(METHODS, EPSILONS), pairs, strict=True)
    ]


def _figures(own: Intervals, rows: Intervals, reference: Intervals, errors) -> tuple:
    """Return shown, coverage, errors and widths with unit=, then without it, and of OLS."""
    return (
        f"{own.shown.mean():.2f}",
        _each(own.coverage()),
        _each(own.errors(errors), 2),
        _each(own.widths(reference), 2),
        _each(rows.coverage()),
        _each(rows.widths(reference), 2),
        _each(reference.coverage()),
    )


def _each(values: np.ndarray, digits: int = 3) -> str:
    """Write the values of education and hours."""
    return " ".join(f"{value:.{digits}f}" for value in values[1:])


HEADER = (
    "persons", "rows", "ICC", "epsilon", "panels", "shown", "coverage", "error/s.e.", "width ratio",
    "row-level", "width ratio", "OLS",
)  # fmt: skip
_LEGEND = """\
two figures are those of education, the same in all rows of a person, and of hours, which vary;
shown: intervals with ends; coverage: share of these that hold the truth, 95% nominal; error:
median size, over what clustered least squares' standard errors say of its own; width ratio:
median width over that of clustered least squares; row-level: coverage and width of the same call
without unit=, whose intervals take the rows of a person for independent; OLS: coverage of
clustered least squares"""


def main(arguments: list[str]) -> None:
    """Print one table a method, with one line a cell and epsilon."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks persons", description=__doc__)
    parser.add_argument("--repetitions", type=int, help="by default 100; 10 of 20,000 persons")
    parser.add_argument("--persons", nargs="+", type=int, default=[2000, 20_000])
    parser.add_argument("--shapes", nargs="+", default=["fixed", "poisson", "pareto"])
    parser.add_argument("--icc", nargs="+", type=float, default=[0.0, 0.5, 0.9])
    parser.add_argument("--jobs", type=int, help="by default one a processor")
    options = parser.parse_args(arguments)
    cells = [Cell(*parts) for parts in product(options.persons, options.shapes, options.icc)]
    tables: dict[str, list[tuple]] = {method: [] for method in METHODS}
    with ProcessPoolExecutor(options.jobs) as pool:
        each = pool.map(partial(lines, repetitions=options.repetitions), cells)
        for method, line in chain.from_iterable(each):
            tables[method].append(line)
    for method, rows in tables.items():
        print_table(f"intervals of {method} in panels of pay slips", HEADER, rows)
    print(_LEGEND)
