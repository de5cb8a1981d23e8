"""Release the scale of differences of rows, or of deviations, in which noisy Newton steps start."""

import math
from dataclasses import replace
from functools import partial
from typing import TypeVar

import numpy as np

from dpstats.estimators.contract import of_outcome
from dpstats.estimators.newton.row_sums import IndicatorBasis
from dpstats.estimators.newton.steps.rounds import RESPONSE_WEIGHT
from dpstats.estimators.newton.steps.squared_loss import IS_CLEAR, limit_of_squares
from dpstats.estimators.newton.steps.whitening import NUMERIC_NORM
from dpstats.estimators.newton.within.differences import Sizes, reference_of, release_sizes
from dpstats.estimators.newton.within.pair_queries import PairQueries
from dpstats.estimators.newton.within.unit_deviations import DeviationQueries
from dpstats.noise import noise_deviation
from dpstats.numerics import Rows
from dpstats.privacy import Cost
from dpstats.schema import UNLIMITED

Scaled = TypeVar("Scaled", PairQueries, DeviationQueries)


def with_scales(queries: Scaled, cost: Cost) -> list[Scaled]:
    """Release the sizes of differences of columns and of each response, and scale by them.

    Each response has queries of its own; an endogenous regressor is the second one.
    """
    problem, layout = queries.problem, queries.problem.layout
    assert layout is not None
    numeric, ends = layout.numeric.tolist(), problem.response_bounds
    part = cost.part(1 / (len(numeric) + RESPONSE_WEIGHT * len(ends)))
    widths = [_width(*ends) for ends in zip(problem.low, problem.high, strict=True)]
    columns = [
        release_sizes(queries, f"column {j + 1}", partial(_column, j), widths[j], part)
        if j in numeric
        else None
        for j in range(len(widths))
    ]
    own = part.part(RESPONSE_WEIGHT)
    return [
        _scaled(replace(queries, total=of_outcome(queries.total, place)), columns, _width(*of), own)
        for place, of in enumerate(ends)
    ]


def _scaled(
    queries: Scaled, columns: list[Sizes | None], width: float | None, cost: Cost
) -> Scaled:
    """Release the sizes of differences of a response, and scale by these and by the columns'."""
    layout = queries.problem.layout
    assert layout is not None
    y = release_sizes(queries, "y", _response, width, cost)
    reference = reference_of(columns, y, width, queries.INDICATOR)
    # what the bound on a pair's norm leaves for a column where the others are of ordinary size
    left = NUMERIC_NORM * len(columns) - (len(columns) - 1)
    root = np.diag([queries.INDICATOR if c is None else c.scale_within(left) for c in columns])
    levels = layout.level_coefficients() @ root
    basis = IndicatorBasis((), reference.center, root, root.T, False, levels)
    problem = replace(
        queries.problem, reference=reference, layout=layout.as_numbers(), intercept=None
    )
    return replace(queries, basis=basis, problem=problem)


def _width(low: float, high: float) -> float | None:
    """Return how far values with these bounds lie apart at most, None without bounds."""
    width = float(high - low)
    return width if 0 < width < UNLIMITED.high else None


def _column(j: int, rows: Rows) -> np.ndarray:
    return rows.numbers[:, j]


def _response(rows: Rows) -> np.ndarray:
    return rows.response


def with_mean_square(queries: Scaled, weight: float, cost: Cost) -> Scaled:
    """Release the mean square of differences of the response, and update the reference by it."""
    reference = queries.reference
    extremes = reference.extremes
    limit = limit_of_squares(extremes.y_reach, weight / noise_deviation(cost, 1.0, 1.0))
    square, error = queries.mean_square(limit, weight, cost)
    if not error < IS_CLEAR:
        return queries
    beyond = extremes.y_weights @ np.maximum(extremes.y_points**2 - limit**2, 0.0)
    variance = max(square, error) + float(beyond)
    unit = math.sqrt(variance)
    extremes = replace(
        extremes, y_reach=extremes.y_reach / unit, y_most=extremes.y_most / unit,
        y_error=error / variance,
    )  # fmt: skip
    reference = replace(reference, y_scale=reference.y_scale * unit, extremes=extremes)
    return replace(queries, problem=replace(queries.problem, reference=reference))
