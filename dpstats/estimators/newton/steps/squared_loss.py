"""Define the squared loss, of responses about a released mean in units of a released deviation."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from dpstats.estimators.contract import Problem, Reference
from dpstats.estimators.newton.row_sums import Loss
from dpstats.estimators.newton.row_sums.indicator_basis import FAR
from dpstats.estimators.newton.steps.group_response import located
from dpstats.noise import Noise, Query, noise_deviation
from dpstats.numerics import Rows
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.numerics.cross_products import whole_weights
from dpstats.privacy import REPLACE_ONE, Cost

# Responses count as so many units from the center at most, or as many more as are seen and leave
# the noise on their mean square at this part of its own unit, up to the third number, where cutting
# squares to the grid loses 1/16 of that unit; the center is off by about so many.
_LIMIT, _NOISE, _MOST, _OFF_CENTER = 4.0, 0.1, 2.0**8, 0.4
# A mean square is taken up where its noise is below this, in squared units.
IS_CLEAR = 0.25
# Of a group the center and the scale of the response take this part of the cost first.
_LOCATED = 0.6
_ONE = 2.0**ENTRY_BITS


class SquaredLoss(Loss):
    """Halve the square of the response, in units of its scale about its center, less the fit."""

    def measured(
        self, problem: Problem, has_constant: bool, total: Callable, rows: float, cost: Cost,
        noise: Noise,
    ) -> Problem:  # fmt: skip
        """Release mean and mean square of the response, and update the reference by them.

        The center that a bin of a histogram gives may be off by a standard deviation, and the unit
        by a factor; where the noise hides both they stay. A design without a constant explains the
        mean too, so there the response is measured from zero.

        The mean square is of responses cut at a limit L; what the released distribution shows
        beyond it is added, and the noise on that counts as an error too.

        Guarantee. The cost. L follows from what was released. With v the response about the center,
        in units of L deviations and clipped to [-1, 1], a row has a part (v, v^2) in the sum, whose
        length is at most sqrt 2: the sensitivity under add/remove. Under replace-one, with
        t = |v - u|, |(v - u, v^2 - u^2)|^2 = t^2 (1 + (v + u)^2) with v + u in [-2 + t, 2 - t], so
        it is at most t^2 (1 + (2 - t)^2), which is 4 at t = 2 and below 4 elsewhere on [0, 2]: 2.
        Both parts are cut toward zero to multiples of 2^-20. Beyond t = 1 the signs of v and u
        differ, so this lengthens the difference of squares alone, by less than one multiple, which
        is added; up to t = 1 the length is at most sqrt 2. In L1 a row has at most 2, and the
        difference is t (1 + |v + u|), at most t (3 - t): 9/4, at t = 3/2.

        With units a row adds its part w, a multiple of 2^-20, times (v, v^2): w v is cut toward
        zero and w v^2 rounded up, so that the pair is w times a point of the convex set
        p^2 <= s <= 1, which has zero in it. So is their sum over a unit, whose parts add up to at
        most 1. The farthest points of the set, (-1, 1) and (1, 1), are 2 apart, and none is farther
        than sqrt 2 from zero; its corners are on p^2 = s, so that the bounds in L1 hold too.
        """
        reference = problem.reference
        assert reference is not None, "the method asks for marginals"
        if not has_constant:
            reference = _from_zero(reference)
        if problem.grouped:
            problem = replace(problem, reference=reference)
            problem = located(problem, has_constant, total, rows, cost.part(_LOCATED), noise)
            reference, cost = problem.reference, cost.part(1 - _LOCATED)
            assert reference is not None
        extremes, replaces = reference.extremes, problem.neighbors == REPLACE_ONE
        one_row = 2 if replaces else math.sqrt(2)
        l1 = 2.25 if replaces else 2.0
        limit = limit_of_squares(extremes.y_reach, rows / noise_deviation(cost, l1, one_row))
        sums = total(partial(_sums, reference, limit))
        far = 2 * _ONE + 1 if replaces else math.sqrt(2) * _ONE
        query = Query(
            "mean and mean square of y",
            sums.tolist(),
            l1=l1 * _ONE + replaces,
            l2=far,
            unit=1 / _ONE,
        )
        noisy = noise.add(query, cost)
        mean, square = noisy.values / rows * [limit, limit**2]
        error = noisy.deviation / rows
        mean *= has_constant / (1 + (error * limit / _OFF_CENTER) ** 2)
        hidden, variance, y_error = error * limit**2, 1.0, extremes.y_error
        if hidden < IS_CLEAR:
            squares = extremes.y_points**2
            cut = np.maximum(squares - limit**2, 0.0)
            variance = max(square - mean**2, hidden) + float(extremes.y_weights @ cut)
            # of the error of all squares the cut ones have this part
            part = np.linalg.norm(cut) / np.linalg.norm(squares) if cut.any() else 0.0
            y_error = math.hypot(hidden, extremes.y_error * part) / variance
        unit = math.sqrt(variance)
        extremes = replace(
            extremes, y_ends=(extremes.y_ends - mean) / unit,
            y_reach=(extremes.y_reach + abs(mean)) / unit,
            y_most=(extremes.y_most + abs(mean)) / unit, y_error=y_error,
            y_points=(extremes.y_points - mean) / unit,
        )  # fmt: skip
        center, scale = reference.y_center + mean * reference.y_scale, reference.y_scale * unit
        return replace(problem, reference=replace(
            reference, y_center=center, y_scale=scale, extremes=extremes
        ))  # fmt: skip

    def residuals(
        self, rows: Rows, reference: Reference, columns: np.ndarray, eta: np.ndarray
    ) -> np.ndarray:
        """Return responses in units of the reference, cut far out, less their fit."""
        from dpstats.numerics.whitening import residuals

        y, center, scale = (
            np.ascontiguousarray(rows.response),
            reference.y_center,
            reference.y_scale,
        )
        return residuals(y, center, scale, FAR, columns, eta)

    def farthest(self, reference: Reference) -> float:
        """Return the farthest response that its released distribution allows for."""
        return reference.extremes.y_most

    def mean_square(self, reference: Reference, explained: float) -> float:
        """Return what is left of the variance of the response, which is 1."""
        return 1 - explained

    def curvature(self, reference: Reference, explained: float) -> float:
        """Return 1, the curvature of half a square anywhere."""
        return 1.0


def limit_of_squares(reach: float, precision: float) -> float:
    """Return where responses are cut in their mean square, of noise 1 / ``precision`` at 1.

    They lie within ``reach``.
    """
    return max(_LIMIT, min(reach, math.sqrt(_NOISE * precision), _MOST))


def _from_zero(reference: Reference) -> Reference:
    """Measure the response from zero, in units of its root mean square."""
    size = math.hypot(reference.y_center, reference.y_scale)
    extremes, center = reference.extremes, abs(reference.y_center)
    reach, most = (
        (center + far * reference.y_scale) / size for far in (extremes.y_reach, extremes.y_most)
    )
    ends = (reference.y_center + extremes.y_ends * reference.y_scale) / size
    extremes = replace(extremes, y_ends=ends, y_reach=reach, y_most=most)
    return replace(reference, y_center=0.0, y_scale=size, extremes=extremes)


def _sums(reference: Reference, limit: float, rows: Rows) -> np.ndarray:
    """Add up (v, v^2) of clipped responses, in units of 2^-20, as whole numbers.

    Of rows that count for parts w it is w (v, v^2), the square rounded up.
    """
    v, whole, rounded = _scaled(reference, limit, rows.response), _ONE, np.trunc
    if rows.parts is not None:
        whole, rounded = whole_weights(rows.parts), np.ceil
    sums = np.array([np.trunc(whole * v).sum(), rounded(whole * np.square(v)).sum()])
    return sums.astype(np.int64).astype(object)


def _scaled(reference: Reference, limit: float, y: np.ndarray) -> np.ndarray:
    """Return responses about the center, in units of ``limit`` deviations, clipped to [-1, 1]."""
    with np.errstate(over="ignore"):  # on any thread, whatever the caller has set
        return np.clip((y - reference.y_center) / (limit * reference.y_scale), -1.0, 1.0)
