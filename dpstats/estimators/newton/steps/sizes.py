"""Count rows for Newton steps, and say how many rows and levels these take."""

import math

import numpy as np

from dpstats.errors import ArgumentError
from dpstats.estimators.contract import Problem
from dpstats.noise import noise_deviation
from dpstats.numerics import Rows
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.numerics.cross_products import whole_weights
from dpstats.privacy import REPLACE_ONE, Cost

# Scales are usable from so many times the noise on a count of a column's rows, for one regressor
# and for several: the scale of one alone cancels in its regression unless values are clipped, while
# scales of several decide how X'X looks beside its noise.
ROWS_PER_NOISE = 20.0, 30.0
TOO_FEW = (
    "the rows are too few at this epsilon for the scales of the columns to be known, so intervals "
    "are unbounded; raise epsilon"
)
# Columns beside an absorbed one.
_MOST_COLUMNS = 200
# Products of levels are held for all pairs of them.
_MOST_LEVELS = 1000
_MANY_LEVELS = (
    "merge levels",
    'absorb the factor, as in y ~ x | county, or take method="adassp"',
)


def number_of_rows(rows: Rows) -> np.ndarray:
    """Return the number of rows, or the sum of their parts and their number in units of 2^-20.

    With units it is the number of units.
    """
    if rows.parts is None:
        return np.array([len(rows)], dtype=object)
    sum_of_parts = int(whole_weights(rows.parts).sum())
    return np.array([sum_of_parts, rows.count << ENTRY_BITS], dtype=object)


def has_shared_scales(problem: Problem) -> bool:
    """Tell whether the rows of all groups together give usable scales of several columns."""
    reference = problem.reference
    return problem.grouped and reference is not None and reference.hidden * ROWS_PER_NOISE[1] < 1


def rows_for_scales(
    columns: int,
    problem: Problem,
    cost: Cost,
    marginals: float,
    response: float,
    shared: bool = False,
) -> float:
    """Return the fewest rows whose released distributions give usable scales of so many columns.

    These had the fraction ``marginals`` of the budget, of which ``cost`` is the rest, and the
    response counted for so many of the columns.

    Below it intervals that are shown cover as little as 67% where regressors are correlated or
    most rows share a value (benchmarks/grid.py, 500 rows and six regressors at epsilon 1). Where
    scales are those of all groups, ``shared``, least squares takes fewer.
    """
    times = 2.0 if problem.neighbors == REPLACE_ONE else 1.0
    part = cost.part(marginals / (1 - marginals) / max(columns + response, 1.0))
    return ROWS_PER_NOISE[columns > 1 and not shared] * noise_deviation(
        part, times, math.sqrt(times)
    )


def check_levels(name: str, problem: Problem) -> None:
    """Raise ArgumentError for more levels than X'X is held for, by the method of this name."""
    levels = sum(len(block.coding) for block in problem.layout.blocks) if problem.layout else 0
    if levels > _MOST_LEVELS:
        raise ArgumentError(
            f"{name} takes at most {_MOST_LEVELS:,} levels of factors, got {levels:,}; "
            + _MANY_LEVELS[name == "noisy_newton"]
        )


def check_columns(problem: Problem) -> None:
    """Raise ArgumentError for too many columns beside an absorbed one."""
    if len(problem.low) > _MOST_COLUMNS:
        raise ArgumentError(
            f"noisy_newton takes at most {_MOST_COLUMNS} columns beside an absorbed one, got "
            f'{len(problem.low)}; take method="adassp"'
        )
