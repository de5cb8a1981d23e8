"""Prepare what all Theil-Sen methods share: rows on the public grid, pairs of rows, options."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from dpstats import option_checks
from dpstats.errors import ArgumentError
from dpstats.estimators.contract import Method, Problem
from dpstats.estimators.lines.pairwise import pairs_of
from dpstats.estimators.lines.simple_regression import Line, LineRows
from dpstats.noise import Noise
from dpstats.numerics import Rows
from dpstats.privacy import REPLACE_ONE

# x, y and the output live on multiples of 2^-24 of their range. With |u| <= 2^25 and
# |y - r| <= 2^26 in these units two different quotients (y - r) / u differ by a factor
# of at least 1 + 2^-51, so double division never confuses or swaps them.
BITS = 24
ONE = 1 << BITS
NO_ERRORS = "a private median of pairwise predictions has no standard error of its own"
OPTIONS = {
    "k": ("all", option_checks.whole("k", 1, or_word="all")),
    "output_range": ((-0.5, 1.5), option_checks.interval("output_range", -2, 3, min_width=0.01)),
}


def summarise(rows: Rows, problem: Problem) -> LineRows:
    """Return the rows themselves on the grid: Theil-Sen has no smaller summary."""
    return LineRows(*Line.of(problem).integers(rows.numbers, rows.response, BITS))


def chosen_pairs(n: int, k, noise: Noise) -> tuple[int, np.ndarray | None]:
    """Return the largest number of pairs that share a row, and the pairs, None for all of them."""
    matchings = n - 1 if k == "all" else min(int(k), n - 1)
    return matchings, None if matchings == n - 1 else pairs_of(n, matchings, noise)


def check(problem: Problem, options: Mapping[str, Any]) -> None:
    """Raise ArgumentError for x_new far beyond the bounds, and for options that need n.

    Points are within one range width of the bounds. Numbers of matchings and intervals need the
    number of rows, which is private under add/remove.
    """
    if not len(problem.x_new):
        raise ArgumentError("Theil-Sen methods release predictions and need at least one x_new")
    positions = Line.of(problem).positions(problem.x_new)
    if not np.all((positions >= -1) & (positions <= 2)):
        raise ArgumentError(
            "expected x_new within one range width of the bounds of the regressor; "
            "ask for points inside and extend the line with predict()"
        )
    for name, default in (("k", "all"), ("ci", None)):
        value = options.get(name, default)
        if problem.neighbors != REPLACE_ONE and value != default:
            raise ArgumentError(
                f"{name}={value!r} of Theil-Sen methods needs the number of rows, which "
                f'is private with neighbors={problem.neighbors!r}; add neighbors="replace_one" or '
                f"leave {name} out"
            )


theil_sen_method = partial(
    Method,
    guarantee="pure",
    neighbors=(REPLACE_ONE,),
    single_regressor=True,
    standard_errors=NO_ERRORS,
    check=check,
)
