"""Find where the response of a group lies, and on what scale, beside a reference of all groups.

Scores are in units of the response's scale, so that a group whose responses vary less than those
of all groups together would have far too much noise without it. Regressors need none of it: X'X
of the group's own rows tells their scale.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from dpstats.estimators.contract import Extremes, Problem, Reference
from dpstats.estimators.newton.steps.far_responses import ONE_VALUE
from dpstats.noise import Noise, Query
from dpstats.numerics import Rows
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.numerics.cross_products import whole_weights
from dpstats.privacy import REPLACE_ONE, Cost

# The part of the cost that the center takes, and how many deviations of all groups it may be off.
_CENTER, _LIMIT = 0.3, 4.0
# Edges of distances from the center in deviations of all groups, with a typical one of each bin.
_EDGES = 2.0 ** np.arange(-7, 4)
_SIZES = np.append(_EDGES[0] / 2, _EDGES * math.sqrt(2))
# A bin is seen from so many deviations of noise on, as one that is not is far more often far out
# than near; a scale is from so many in all rows.
_SEEN, _ENOUGH = 4.0, 10.0
# Where a group varies by less than this part of the variance of all groups, and noise may hide this
# part of its rows in a bin, the distribution of all groups says nothing of its tails.
_ALIKE, _HIDDEN = 0.5, 0.01
# Of bins where all groups have no rows so many deviations of noise are expected of a group.
_LEAST_EXPECTED = 1e-4
# A tail is heavy from this kurtosis on, and surely at twice it.
_KURTOSIS = 4.0
_ONE = 2.0**ENTRY_BITS


def located(
    problem: Problem, has_constant: bool, total: Callable, rows: float, cost: Cost, noise: Noise
) -> Problem:
    """Release center and scale of a group's response, and update the reference by them.

    The center is the mean of responses within 4 deviations of that of all groups, drawn to it as
    far as noise may account for it; without a constant the response is measured from zero. The
    scale is the root mean square of what a histogram over octaves of distances from the center
    shows clear of noise. Where nearly all of that is in one bin, as of a rare response, what noise
    may hide in others is part of it; where it shows too few rows, the scale of all groups stays.

    Guarantee. The cost, by two releases of sums over the rows of functions of one row each, given
    what was released before. With v the response about the center of all groups, in units of 4
    deviations and clipped to [-1, 1], a row adds v, cut toward zero to a multiple of 2^-20: 1 under
    add/remove, 2 under replace-one. In the histogram a row is in one bin: 1, and under replace-one
    sqrt 2, or 2 in L1. With units or weights rows add parts w of that, which add up to at most 1 in
    a unit: w v is at most w, and counts of a unit have an L1 norm of at most 1 and no negative
    entry, so both bounds hold.
    """
    reference, moved = problem.reference, 2 if problem.neighbors == REPLACE_ONE else 1
    assert reference is not None, "the method asks for marginals"
    center = 0.0
    if has_constant:
        query = Query(
            "center of y",
            total(partial(_sum, reference)).tolist(),
            l1=moved * _ONE,
            l2=moved * _ONE,
            unit=1 / _ONE,
        )
        noisy = noise.add(query, cost.part(_CENTER))
        error = _LIMIT * noisy.deviation / rows
        center = _LIMIT * float(noisy.values[0]) / rows / (1 + error**2)
    one = _ONE if problem.in_parts else 1
    work = partial(_counts, reference, center, problem.in_parts)
    query = Query(
        "distances of y",
        total(work).tolist(),
        l1=moved * one,
        l2=math.sqrt(moved) * one,
        unit=1 / one,
    )
    noisy = noise.add(query, cost.part(1 - _CENTER if has_constant else 1.0))
    found = _rescaled(reference, center, noisy.values, noisy.deviation)
    return replace(problem, reference=found)


def _rescaled(
    reference: Reference, center: float, counts: np.ndarray, deviation: float
) -> Reference:
    """Return the reference about a new center, on the scale that noisy counts show."""
    extremes, square = reference.extremes, 1.0
    heavy, heavy_seen = extremes.heavy, extremes.heavy_seen
    points, weights = extremes.y_points - center, extremes.y_weights
    seen = np.where(counts > _SEEN * deviation, counts, 0.0)
    if counts.sum() > _ENOUGH * deviation and seen.any():
        number = seen.sum()
        second, fourth = (float(seen @ _SIZES**power) / number for power in (2, 4))
        if seen.max() >= ONE_VALUE * number:
            points, weights = _distribution(points, weights, counts, seen, deviation)
        else:
            points, weights = np.append(-_SIZES, _SIZES), np.append(seen, seen) / (2 * number)
        square = float(weights @ points**2)
        hidden = square < _ALIKE and _SEEN * deviation > _HIDDEN * number
        kurtosis = min(max(fourth / second**2 / _KURTOSIS - 1, 0.0), 1.0)
        heavy_seen = max(heavy_seen, kurtosis)
        heavy = max(heavy, kurtosis, Extremes.HEAVY_UNSEEN * hidden)
    unit = math.sqrt(square)
    extremes = replace(
        extremes, heavy=heavy, heavy_seen=heavy_seen, y_heavy=None,
        y_ends=(extremes.y_ends - center) / unit,
        y_reach=(extremes.y_reach + abs(center)) / unit,
        y_most=(extremes.y_most + abs(center)) / unit,
        y_error=Extremes.LARGEST_ERROR, y_points=points / unit, y_weights=weights,
    )  # fmt: skip
    return replace(
        reference,
        y_center=reference.y_center + center * reference.y_scale,
        y_scale=reference.y_scale * unit,
        extremes=extremes,
    )


def _distribution(
    points: np.ndarray, weights: np.ndarray, counts: np.ndarray, seen: np.ndarray, deviation: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return points (2k,) with weights that resemble a group's responses about its center.

    Of k bins ``seen`` ones have the rows that noisy ``counts`` show. Others have what the
    distribution of all groups, ``points`` (m,) and ``weights``, lets noise hide there: or a rare
    response would be taken for a constant. It also tells on which side of the center rows of a bin
    lie, and how far; of bins in which it has none the nearest tells the side.
    """
    bins = np.searchsorted(_EDGES, np.abs(points), "right")
    below, above, far = (
        np.bincount(bins, weights * by, len(_SIZES))
        for by in (points < 0, points >= 0, np.abs(points))
    )
    both = below + above
    held = np.flatnonzero(both)
    rows = np.where(seen > 0, seen, hidden_rows(counts, counts.sum() * both, deviation))
    sizes, upper = _SIZES.copy(), np.zeros(len(_SIZES))
    sizes[held], upper[held] = far[held] / both[held], above[held] / both[held]
    upper = upper[held[np.abs(np.arange(len(rows))[:, None] - held).argmin(axis=1)]]
    return np.append(-sizes, sizes), np.append(rows * (1 - upper), rows * upper) / rows.sum()


def hidden_rows(counts: np.ndarray, expected: np.ndarray, deviation: float) -> np.ndarray:
    """Return how many rows normal noise may hide in bins (k,) with noisy counts.

    It is the root mean square of a posterior, as more rows than its mean do more harm than fewer.
    With an exponential prior of the mean ``expected`` the posterior is the normal law about the
    count less deviation^2 / expected, cut at zero.

    Examples
    --------
    >>> hidden_rows(np.array([0, 0, 30.0]), np.array([0, 100, 100.0]), 10.0).round(1).tolist()
    [0.0, 9.6, 30.7]
    """
    from scipy.special import erfcx

    place = counts / deviation - deviation / np.maximum(expected, _LEAST_EXPECTED * deviation)
    mean = place + math.sqrt(2 / math.pi) / erfcx(-place / math.sqrt(2))
    return deviation * np.sqrt(np.maximum(1 + place * mean, mean**2))


def _sum(reference: Reference, rows: Rows) -> np.ndarray:
    """Add up clipped responses times parts, in units of 2^-20, as whole numbers, (1,)."""
    v = np.clip(_deviations(reference, rows) / _LIMIT, -1.0, 1.0)
    whole = _ONE if rows.parts is None else whole_weights(rows.parts)
    return np.array([int(np.trunc(whole * v).sum())], dtype=object)


def _counts(reference: Reference, center: float, in_parts: bool, rows: Rows) -> np.ndarray:
    """Count rows by distance from the center, or add up their parts in units of 2^-20."""
    bins = np.searchsorted(_EDGES, np.abs(_deviations(reference, rows) - center), "right")
    parts = rows.parts if in_parts else None
    weights = None if parts is None else whole_weights(parts)
    return np.bincount(bins, weights, len(_EDGES) + 1).astype(np.int64)


def _deviations(reference: Reference, rows: Rows) -> np.ndarray:
    """Return responses about the center of all groups in units of their deviation."""
    with np.errstate(over="ignore"):  # on any thread, whatever the caller has set
        return (rows.response - reference.y_center) / reference.y_scale
