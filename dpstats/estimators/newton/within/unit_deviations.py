"""Take rows of privacy units as deviations from the unit's means, and release their scales."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from dpstats.estimators.newton.row_sums.sums import parts_by_size, parts_of
from dpstats.estimators.newton.steps import Counted, Queries
from dpstats.noise import Query
from dpstats.numerics import Rows
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.numerics.cross_products import whole_weights
from dpstats.privacy import Cost

_ONE = 1 << ENTRY_BITS
# Scores of a unit are taken to be at least so much alike.
_LEAST_ALIKE = 2.0**-7
# Values farther from zero count as this, so that squares of deviations are finite.
_LARGEST = 2.0**500


def deviations(rows: Rows) -> Rows:
    """Subtract from each row of whole units the mean of its unit; units of one row are left out.

    Deviations are the same to the last bit in whatever order the rows of a unit stand, and depend
    on these rows alone.
    """
    from dpstats.numerics.kernels import less_means

    starts, sizes = np.append(rows.unit_starts, len(rows)), _sizes(rows)
    several = np.repeat(sizes > 1, sizes)
    values = np.vstack([rows.numbers.T, rows.response])
    values = np.clip(np.nan_to_num(values, posinf=_LARGEST, neginf=-_LARGEST), -_LARGEST, _LARGEST)
    less = less_means(values, starts)
    codes = np.empty((len(rows), 0))
    return replace(rows, numbers=less[:-1].T, response=less[-1], codes=codes)[several]


class DeviationQueries(Queries):
    """Release sums over deviations from the means of units.

    Proof of the sensitivities. The deviations of a unit's rows are functions of this unit's rows
    alone, and their parts add up to at most 1. So they are rows of a unit like any others, and the
    bounds of :mod:`dpstats.estimators.newton.noisy_newton` for privacy units are theirs.
    """

    INDICATOR = 0.4
    """The root mean square that deviations of an indicator are taken to have."""

    TAILS_GO_ON = False
    """Tell whether tails of a column's deviations count as they go on where noise hides them.

    Those of a column of two values have many, beyond which nothing lies: intervals of columns of
    few ones would be 2.7 times as long, and those that miss would still, as
    benchmarks/tried_tails.py says.
    """

    def numbers(self, cost: Cost) -> Counted:
        """Release how many units there are, and sums of their parts P and of P^2 / (m - 1).

        A unit has m rows. Where their errors are independent its score, a sum of deviations times
        P / m, has a mean square of P^2 / (m - 1) times that of a row's, and of up to P^2 times
        where they are correlated. A unit of two rows or more adds a point of [0, 1]^2 and one to
        the number, and one of a row nothing, which may stand in the place of another: the
        sensitivity is sqrt 3, in L1 3, for either relation.
        """
        sums, far = self.total(_numbers).tolist(), math.sqrt(3) * _ONE
        noisy = self.noise.add(Query("number of units", sums, 3.0 * _ONE, far, 1 / _ONE), cost)
        total, squares, units = (float(value) for value in noisy.values)
        alike = (squares + noisy.deviation) / max(total, 1.0)
        return Counted(
            max(total, 1.0), noisy.deviation, alike=min(max(alike, _LEAST_ALIKE), 1.0),
            units=max(units, 1.0),
        )  # fmt: skip

    def sizes(self, name: str, values: Callable, edges: np.ndarray, cost: Cost):
        """Release the parts of rows by the size of ``values(rows)``, in bins of ``edges``."""
        work = partial(_by_size, values, edges)
        return self.counts(f"deviations of {name}", work, cost, self.one)

    def mean_square(self, cut: float, rows: float, cost: Cost) -> tuple[float, float]:
        """Release the mean of min(|y| / cut, 1)^2 times cut^2, and the noise on it.

        A unit adds its parts times squares of at most 1, rounded down, so between 0 and 1: one
        that is added, removed or replaced moves the sum by at most 1.
        """
        total = self.total(partial(_squares, self.reference.y_scale * cut))
        query = Query("mean square of y", [total], l1=_ONE, l2=_ONE, unit=1 / _ONE)
        noisy = self.noise.add(query, cost)
        return float(noisy.values[0]) * cut**2 / rows, noisy.deviation * cut**2 / rows


def _numbers(rows: Rows) -> np.ndarray:
    """Return sums of the parts of units and of their squares over m - 1, and their number.

    They are in units of 2^-20.
    """
    starts = rows.unit_starts
    if not len(starts):
        return np.array([0, 0, 0], dtype=object)
    assert rows.parts is not None, "rows of units have parts"
    parts, degrees = np.add.reduceat(whole_weights(rows.parts), starts), _sizes(rows) - 1
    squares = np.trunc(parts / _ONE * parts / degrees)
    return np.array([int(parts.sum()), int(squares.sum()), len(starts) * _ONE], dtype=object)


def _sizes(rows: Rows) -> np.ndarray:
    """Return the numbers of rows of units."""
    return np.diff(np.append(rows.unit_starts, len(rows)))


def _by_size(values: Callable, edges: np.ndarray, rows: Rows) -> np.ndarray:
    return parts_by_size([(np.abs(values(rows)), parts_of(rows))], edges)


def _squares(cut: float, rows: Rows) -> int:
    with np.errstate(over="ignore"):  # on any thread, whatever the caller has set
        squares = np.square(np.minimum(np.abs(rows.response) / cut, 1.0))
    return int(np.trunc(parts_of(rows) * squares * _ONE).sum())
