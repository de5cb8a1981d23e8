"""Release squared scores at the coefficients of a first release, for robust standard errors.

With errors of different variances the covariance of least squares is
(u'u)^-1 (sum u u' e^2) (u'u)^-1 (White 1980). The first release of a method contains u'u and
the coefficients; this one adds the sum in the middle.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

import numpy as np

from dpstats import option_checks
from dpstats.estimators.contract import Passes, Problem, Release, Releases
from dpstats.estimators.least_squares.dense.gram import clipped_box
from dpstats.evidence import Evidence, ScoredEvidence, Stack
from dpstats.noise import Noise, NoisyValues, Query
from dpstats.numerics import Box, GridRows, Moments, Rows, Sensitivity
from dpstats.numerics.clipping import BLOCK, ENTRY_BITS
from dpstats.numerics.cross_products import PRODUCT_UNIT, exact_sum, whole_weights
from dpstats.numerics.ridge import symmetric
from dpstats.privacy import GDP, Cost

COV_TYPES = ("nonrobust", "HC1", "cluster")
OPTIONS = {"cov_type": (COV_TYPES[0], option_checks.word("cov_type", *COV_TYPES))}
# Fraction of the cost, chosen by simulation. With half of it, intervals from 200 rows at epsilon 16
# are 15% longer; with one and a half times as much, those at epsilon 0.5 are at least 4% longer.
FRACTION = 0.1
# Residuals are clipped for their squares at from so many standard deviations on, as far as the
# noise allows: it grows with the square of the cut, and what is cut off falls with it. Their sum is
# least where the fourth power of the cut is this times the rows over the noise (benchmarks/robust).
_LEAST_CUT, _MOST_CUT, _PER_NOISE = 4.0, 64.0, 0.06
# Factor of the sum of w min(e^2 / c^2, 1) beside that of s s' for rows with weights.
KEPT = 0.5
# The L1 sensitivity for two columns: see _query.
_L1 = 3.0


def score_share(cov_type: str, problem: Problem, at_estimated: bool = True) -> float:
    """Return the fraction of the cost for squared scores, 0 where no standard error is possible.

    ``at_estimated`` says whether the method has standard errors at estimated ranges.
    """
    possible = problem.coded or problem.intercept is not None
    possible = possible and (at_estimated or not problem.estimated)
    return FRACTION if cov_type != "nonrobust" and possible else 0.0


def scores(rows: np.ndarray, theta: np.ndarray, cut: np.ndarray) -> np.ndarray:
    """Compute u min(|v - u'theta| / cut, 1) for rows (u, v), cut toward zero to whole numbers.

    Row by row and operation by operation: no score depends on other rows, not in its last
    bit, and in no entry is a score larger than its u. A residual that is no number, as from a
    release that failed, counts as one beyond the cut.

    Parameters
    ----------
    rows : numpy.ndarray, shape (m, S + 1)
        Whole numbers.
    theta : numpy.ndarray, shape (S,) or (m, S)
    cut : numpy.ndarray, shape () or (m,)
        In the units of the rows.
    """
    return np.trunc(rows[:, :-1] * _sizes(rows, theta, cut)[:, None])


def _sizes(rows: np.ndarray, theta: np.ndarray, cut: np.ndarray) -> np.ndarray:
    """Compute min(|v - u'theta| / cut, 1) for rows (u, v), row by row."""
    return np.fmin(np.abs(_residuals(rows, theta)) / cut, 1.0)


def _residuals(rows: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Compute v - u'theta for rows (u, v), row by row."""
    residual = rows[:, -1].copy()
    for j in range(rows.shape[1] - 1):
        residual -= rows[:, j] * theta[..., j]
    return residual


def cut_of(
    evidence: Evidence, norm: float, y_scale: float, problem: Problem, cost: Cost
) -> np.ndarray:
    """Return at what residuals are clipped for their squares, in units of v.

    ``evidence`` is of a fit, or a stack of them, and ``norm`` bounds ||s||. Rows
    with weights, or of units, are cut as early as possible: how much they tell is not known.
    """
    sigma = np.sqrt(evidence.sigma2) / y_scale
    if problem.in_parts:
        return _LEAST_CUT * sigma
    rows = np.maximum(evidence.number, 1.0)
    if isinstance(cost, GDP):
        noise = _in_l2(norm, problem) / cost.mu
    else:
        noise = math.sqrt(2) * _L1 / cost.epsilon
    times = np.clip((_PER_NOISE * rows / noise) ** 0.25, _LEAST_CUT, _MOST_CUT)
    return times * sigma


def reference(
    fit: Release | Stack, box: Box, norm: float, problem: Problem, cost: Cost
) -> tuple[np.ndarray, np.ndarray]:
    """Convert released coefficients to scaled coordinates, and return the cut there."""
    return box.reference(fit.params), cut_of(fit.evidence, norm, box.y_scale, problem, cost)


def _squares_after(first: Release, problem: Problem, cost: Cost) -> Callable:
    """Return the function that sums s s' over the scores s of rows, given the first release."""
    box = clipped_box(problem)
    theta, cut = reference(first.basis, box, box.norm, problem, cost)
    cut = cut * 2.0**ENTRY_BITS
    return partial(_weighted_squares if problem.in_parts else _squares, box, theta, cut)


def _squares(box: Box, theta: np.ndarray, cut: np.ndarray, rows: Rows) -> Moments:
    """Sum s s' over the scores s exactly."""
    columns = rows.numbers.shape[1]
    blocks = (scores(block.columns.T, theta, cut) for block in box.blocks(rows))
    return Moments(exact_sum((s.T @ s for s in blocks), (columns, columns)))


def _weighted_squares(box: Box, theta: np.ndarray, cut: np.ndarray, rows: Rows) -> Moments:
    """Sum s s' over scores s = w u e / c, |e| <= c, exactly, and half of w min(e^2 / c^2, 1).

    With units a score is that of a unit: the sum over its rows. The latter sum is ``extra``.
    """
    scores, kept = weighted_scores(box.blocks(rows), theta, cut)
    return sum_of_squares(scores if rows.units is None else sums_by_unit(scores, rows.units), kept)


def weighted_scores(
    blocks: Iterable[GridRows], theta: np.ndarray, cut: np.ndarray | float
) -> tuple[np.ndarray, int]:
    """Compute scores w u e / c, |e| <= c, of rows, and add up half of w min(e^2 / c^2, 1).

    Parameters
    ----------
    blocks : iterable of GridRows
    theta : numpy.ndarray, shape (S,)
    cut : float
        In the units of the rows.

    Returns
    -------
    scores : numpy.ndarray, shape (n, S)
        Cut toward zero to whole numbers.
    kept : int
        In units of 2^-40, each row's cut toward zero.
    """
    from dpstats.numerics.kernels import clipped_residuals, cut_rows

    kept, scores, scale = 0, [np.empty((len(theta), 0))], KEPT / PRODUCT_UNIT
    for block in blocks:
        parts = whole_weights(block.weights) * 2.0**-ENTRY_BITS
        sizes, more = clipped_residuals(block.columns, theta, float(cut), parts, scale)
        scores.append(cut_rows(block.columns[:-1], sizes))
        kept += int(more)
    return np.hstack(scores).T, kept


def sum_of_squares(s: np.ndarray, kept: int) -> Moments:
    """Sum s s' over scores (n, S), whole numbers of at most 2^20; ``extra`` is ``kept``."""
    products = (s[i : i + BLOCK].T @ s[i : i + BLOCK] for i in range(0, len(s), BLOCK))
    return Moments(exact_sum(products, (s.shape[1],) * 2), kept)


def sums_by_unit(values: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Add up the rows of ``values`` (m, k), whole numbers, of each unit, numbered by (m,)."""
    from dpstats.numerics.kernels import sums_of_runs

    return sums_of_runs(np.ascontiguousarray(values.T), units).T


def _in_l2(norm: float, problem: Problem) -> float:
    """Bound how far the triangle of s s' of scores with ||s|| <= ``norm`` moves."""
    return Sensitivity.of(norm, len(problem.low), problem.neighbors).l2[0]


def _query(squares: Moments, norm: float, problem: Problem) -> Query:
    """Build the query of the upper triangle of the sum of s s', with its sensitivity.

    ``norm`` is the bound R on ||s||.

    The coefficients and the cut are released numbers, so each score is a function of its row
    alone, and |s_j| <= |u_j| <= 1, ||s|| <= ||u|| <= R. In L2 the triangle of s s' is thus
    as sensitive as that of u u'
    (:meth:`~dpstats.numerics.coordinates.Sensitivity.of`).

    In L1, for two columns: the triangle of (a, b) is (a^2, a b, b^2), at most 3 under
    add/remove. Under replace-one let (a, b) become (x, y). Where a b and x y have the same
    sign each entry moves by at most 1. Else a b moves by |a b| + |x y|, and if a^2 >= x^2 and
    b^2 >= y^2 the three move by at most |a b| + a^2 + b^2 + (|x y| - x^2 - y^2) <= 3; if
    a^2 >= x^2 and b^2 <= y^2 by a^2 + y^2 + (|a b| - b^2) + (|x y| - x^2) <=
    5/4 (a^2 + y^2) <= 5/2; the other cases exchange the two rows. So 3 again, attained from
    (1, 1) to (0, 0), a row on the line.

    Where rows have weights in [0, 1] their scores are w times as long, and half of
    w min(e^2 / c^2, 1) is one more value, which lies in [0, 1/2]: its square, 1/4, adds to that
    of the L2 sensitivity. The weights of the rows of a unit add up to at most 1, so the sum of
    their scores has |s_j| <= 1 and ||s|| <= R as well, the one more value is at most 1/2, and the
    same bounds hold for units.
    """
    columns = len(problem.low)
    l2 = _in_l2(norm, problem) / PRODUCT_UNIT
    l1 = _L1 / PRODUCT_UNIT if columns == 2 else None
    values = squares.cross[np.triu_indices(columns)].T
    if problem.in_parts:
        values, l1 = [*values, squares.extra], None
        l2 = math.hypot(l2, KEPT / PRODUCT_UNIT)
    return Query("sum of e^2 x x'", values, l1, l2, PRODUCT_UNIT)


def _with_squares(
    evidence: Evidence, released: NoisyValues, cut: np.ndarray, problem: Problem
) -> ScoredEvidence:
    """Add what was released to the evidence of a fit, or of a stack of them."""
    assert isinstance(evidence, ScoredEvidence), "the first release has sums"
    deviation, columns = np.full(np.shape(cut), released.deviation), len(problem.low)
    triangle = (
        released.values[: columns * (columns + 1) // 2] if problem.in_parts else released.values
    )
    kept = released.values[-1] / KEPT if problem.in_parts else None
    return evidence.with_squares(symmetric(triangle, columns), cut, deviation, kept)


def scored(first: Release, passes: Passes, problem: Problem, cost: Cost, noise: Noise) -> Release:
    """Release the sum of s s' of rows in the coordinates of ``clipped_box``."""
    box, squares = clipped_box(problem), passes.sum(_squares_after(first, problem, cost))
    return release_squares(squares, first, box, box.norm, problem, cost, noise)


def release_squares(
    moments: Moments,
    first: Release,
    box: Box,
    norm: float,
    problem: Problem,
    cost: Cost,
    noise: Noise,
) -> Release:
    """Release the sum of s s' and add it, with what follows from it, to the first release.

    Where the intervals of that are those of a companion, to the companion. ``norm`` bounds ||s||
    in the coordinates of ``box``.

    Guarantee. The cost, given the first release: one Laplace or Gaussian release with the
    sensitivity derived in :func:`_query`. The rest is post-processing.
    """
    triangle = noise.add(_query(moments, norm, problem), cost)
    _, cut = reference(first.basis, box, norm, problem, cost)
    evidence = _with_squares(first.basis.evidence, triangle, cut, problem)
    cov = evidence.covariance(problem.intercept)
    robust = replace(first.basis, evidence=evidence, cov=cov, cov_type=type_of(problem))
    return robust if first.companion is None else replace(first, companion=robust)


def type_of(problem: Problem) -> str:
    """Name the covariance: of scores of rows, or of units."""
    return "cluster" if problem.by_unit else "HC1"


def scored_each(
    rows: Rows, edges, first: Releases, problem: Problem, cost: Cost, noise: Noise
) -> Releases:
    """Release the same for every group, the noise of all groups in one draw."""
    box, sizes = clipped_box(problem), np.diff(edges)
    theta, cut = reference(first.stack, box, box.norm, problem, cost)
    per_row = np.repeat(theta, sizes, axis=0), np.repeat(cut, sizes) * 2.0**ENTRY_BITS
    of_rows = scores(box.integers(rows.numbers, rows.response), *per_row).astype(np.int64)
    squares = Moments.of_groups(of_rows, edges)
    triangle = noise.add(_query(squares, box.norm, problem), cost)
    evidence = _with_squares(first.stack.evidence, triangle, cut, problem)
    return replace(first, stack=replace(first.stack, evidence=evidence), cov_type="HC1")
