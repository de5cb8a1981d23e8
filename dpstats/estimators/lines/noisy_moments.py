"""Fit NoisyMoments: simple regression from five noisy sums, released once."""

import math
from dataclasses import replace
from functools import partial

import numpy as np

from dpstats.estimators.contract import (
    Each,
    Method,
    Passes,
    Problem,
    Release,
    Releases,
    released_twice,
)
from dpstats.estimators.contract.release import CLIPPED
from dpstats.estimators.least_squares.dense.robust_covariance import (
    COV_TYPES,
    OPTIONS,
    score_share,
    scored,
    scored_each,
)
from dpstats.estimators.least_squares.dense.unidentified import MEAN
from dpstats.estimators.lines.simple_regression import Line, centred_box, centred_moments, too_few
from dpstats.evidence import Evidence, LineEvidence, Stack
from dpstats.noise import Noise, Query
from dpstats.numerics import Moments, Rows
from dpstats.numerics.cross_products import PRODUCT_UNIT
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE, PureDP

# Cross-products are summed for rows on [-1, 1]; for u, v in [-1/2, 1/2] they are a quarter.
_UNIT = PRODUCT_UNIT / 4
_ONE = round(1 / PRODUCT_UNIT)


def sensitivities(neighbors: str) -> tuple[float, float]:
    """Bound the L1 and L2 sensitivity of the released sums of (u, v) in [-1/2, 1/2]^2.

    Replace-one, of T = sum (u, v, u^2, u v, v^2). Let u and v move by d and a, and let s
    and c be the sums of old and new, so |s| <= 1 - |d| and |c| <= 1 - |a|. u^2 moves by
    s d, v^2 by c a and u v by (s a + c d) / 2. With D = |d|, A = |a|:
    - L1 <= D + A + D (1 - D) + A (1 - A) + (A (1 - D) + D (1 - A)) / 2
      = 5/2 (D + A) - D^2 - A^2 - D A <= 5/2 p - 3/4 p^2 with p = D + A, since
      D A <= p^2 / 4; the largest value is 25/12, at p = 5/3, attained from
      (1/2, 1/2) to (-1/3, -1/3).
    - L2^2 <= D^2 (1 + (1 - D)^2) + A^2 (1 + (1 - A)^2) + w^2 / 4 with
      w = A (1 - D) + D (1 - A), in [0, 1], so w^2 <= w <= (1 - D) + (1 - A). D (1 + (1 - D)^2)
      increases to 1 on [0, 1], hence D^2 (1 + (1 - D)^2) + (1 - D) / 4 <= 1, the
      same for A, and L2 <= sqrt 2, attained from (1/2, 1/2) to (-1/2, -1/2).

    Add/remove, of (n, T): one term, 1 + |u| + |v| + u^2 + |u v| + v^2 <= 11/4 and
    1 + u^2 + v^2 + u^4 + u^2 v^2 + v^4 <= 27/16, both attained at a corner.
    """
    return (25 / 12, math.sqrt(2)) if neighbors == REPLACE_ONE else (11 / 4, math.sqrt(27) / 4)


def release(
    passes: Passes, problem: Problem, cost: PureDP, noise: Noise, cov_type: str = COV_TYPES[0]
) -> Release:
    """Release slope, intercept and residual variance by one Laplace mechanism.

    Guarantee. epsilon-DP: one Laplace release of (Su, Sv, Suu, Suv, Svv), the sums of u,
    v, u^2, u v and v^2 over rows centred and scaled to [-1/2, 1/2]^2, with the L1
    sensitivity derived in :func:`sensitivities`; under add/remove the number of rows is
    released with them. Everything else is post-processing. Uncentred, on [0, 1]^2, the
    same five sums have L1 sensitivity 5. Entries are cut toward zero to multiples of
    2^-21 within their range first, so the sums are exact integers.

    Status ``failed``: the noisy sum of squares of x about its mean was not positive, or
    the noisy number of rows was not, so there is no slope. Where any slope is compatible with the
    release at the 5% level, :func:`believable` puts the mean of the response in the place of the
    line, unless intervals are those of a companion.

    Robust standard errors take a tenth of epsilon for squared scores at this line
    (:func:`~dpstats.estimators.least_squares.dense.robust_covariance.release_squares`).

    Notes
    -----
    ``evidence`` of the release holds n, the noisy sums on the scale of u and v,
    ``sigma2``, the residual variance in squared units of the response, at least the
    noise scale over n, and, with declared bounds, the public facts from which
    :class:`dpstats.inference.pivot.Pivot` makes intervals and tests.
    """
    found = released_twice(
        lambda cost: _line(passes, problem, cost, noise),
        lambda line, cost: scored(line, passes, problem, cost, noise),
        cost,
        score_share(cov_type, problem, at_estimated=False),
    )
    return found if problem.paired else believable(found, problem)


def _line(passes: Passes, problem: Problem, cost: PureDP, noise: Noise) -> Release:
    """Release the sums, and fit a line whose slope any value could be as it is."""
    moments: Moments = passes.sum(partial(centred_moments, problem=problem))
    if failure := too_few(problem, int(_rows(moments, problem))):
        return failure
    params, evidence = _fit(*_noisy(moments, problem, cost, noise), problem)
    if np.isnan(evidence.sigma2):
        evidence = replace(evidence, sigma2=None)
        return replace(Release.nothing(problem, "failed", _FAIL), evidence=evidence)
    reasons = {"bse": CLIPPED} if problem.estimated else {}
    return Release(params, problem.x_new @ params, reasons=reasons, evidence=evidence)


def release_each(
    rows: Rows, edges, problem: Problem, cost: PureDP, noise: Noise, cov_type: str = COV_TYPES[0]
) -> Releases:
    """Release every group as :func:`release` does, the noise of all groups in one draw."""
    fraction = score_share(cov_type, problem, at_estimated=False)
    if not fraction:
        found = _lines(rows, edges, problem, cost, noise)
    else:
        lines = _lines(rows, edges, problem, cost.part(1 - fraction), noise)
        found = scored_each(rows, edges, lines, problem, cost.part(fraction), noise)
    return _believable_each(found, problem)


def _lines(rows: Rows, edges, problem: Problem, cost: PureDP, noise: Noise) -> Releases:
    """Release the sums of every group, and fit its line."""
    moments = Moments.each(rows, edges, centred_box(problem))
    params, evidence = _fit(*_noisy(moments, problem, cost, noise), problem)
    failed = np.isnan(evidence.sigma2)
    reasons = {CLIPPED: problem.estimated and not failed.all(), _FAIL: failed.any()}
    return Releases(
        params,
        params @ problem.x_new.T,
        statuses=np.where(failed, "failed", "ok").tolist(),
        reasons=tuple(reason for reason, holds in reasons.items() if holds),
        stack=Stack(params, np.full((len(params), 2, 2), np.nan), evidence),
    )


def believable(found: Release, problem: Problem) -> Release:
    """Put the mean of the response in the place of a line whose slope any value could be.

    Guarantee. A function of released values, so it costs nothing.
    """
    if not _has_pivot(found.evidence):
        return found
    params, unknown = _believable(Stack.of([found], len(found.params)), problem)
    if not unknown.any():
        return found
    reasons = {**found.reasons, "bse": MEAN, "conf_int": MEAN}
    points = problem.x_new @ params[0]
    return replace(found, params=params[0], predictions=points, reasons=reasons)


def _believable_each(found: Releases, problem: Problem) -> Releases:
    """Put the mean of the response in the place of such a line in every group."""
    if not _has_pivot(found.stack.evidence):
        return found
    params, unknown = _believable(found.stack, problem)
    if not unknown.any():
        return found
    points = np.where(unknown[:, None], params @ problem.x_new.T, found.predictions)
    reasons, stack = (*found.reasons, MEAN), replace(found.stack, params=params)
    return replace(found, params=params, predictions=points, reasons=reasons, stack=stack)


def _has_pivot(evidence: Evidence) -> bool:
    """Tell whether intervals follow from sums and their noise."""
    return isinstance(evidence, LineEvidence) and evidence.scales is not None


def _believable(stack: Stack, problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Return coefficients (G, 2), and where (G,) these are the mean and a slope of zero."""
    line, params = Line.of(problem), stack.params
    failed = np.isnan(params).any(axis=1)
    unknown = stack.uncertainty().unbounded_at(np.arange(1))[:, 0] & ~failed
    assert isinstance(stack.evidence, LineEvidence), "callers look for a pivot"
    n, _, sv, *_ = stack.evidence.totals.T
    mean = np.clip(sv / n, -0.5, 0.5)
    return np.where(unknown[:, None], line.params(mean + 0.5, 0.0 * mean), params), unknown


def _noisy(moments: Moments, problem: Problem, cost: PureDP, noise: Noise):
    """Release n, Su, Sv, Suu, Suv, Svv with noise, shape (6,) or (6, G), and return its scale."""
    first = 1 if problem.neighbors == REPLACE_ONE else 0
    l1, l2 = (bound / _UNIT for bound in sensitivities(problem.neighbors))
    exact = np.array(_sums(moments, problem)[first:], dtype=object)
    query = Query("sums of u, v and products", exact.T, l1, l2, _UNIT)
    noisy = noise.add(query, cost)
    sums = noisy.values.T
    if first:
        sums = np.stack([_rows(moments, problem).astype(float), *sums])
    return sums, noisy.scale


def _known(problem: Problem, scale: float) -> tuple[list[float], list[float]]:
    """Return public facts about the sums: the scales of their noise, the units of u and v."""
    line = Line.of(problem)
    middle, y_middle = line.low + line.width / 2, line.y_low + line.y_width / 2
    of_rows = 0.0 if problem.neighbors == REPLACE_ONE else scale
    return [of_rows, scale], [line.column, middle, line.width, y_middle, line.y_width]


def _rows(moments: Moments, problem: Problem) -> np.ndarray:
    """Return the number of rows: the constant column is one."""
    return np.array(moments.cross[problem.intercept, problem.intercept] // _ONE)


def _sums(moments: Moments, problem: Problem) -> list:
    """Return n, Su, Sv, Suu, Suv and Svv of u, v in [-1/2, 1/2], in units of 2^-42."""
    one, u, v, cross = problem.constant, 1 - problem.constant, 2, moments.cross
    first = [4 * cross[one, one], 2 * cross[one, u], 2 * cross[one, v]]
    return [*first, cross[u, u], cross[u, v], cross[v, v]]


def _fit(sums: np.ndarray, scale: float, problem: Problem) -> tuple[np.ndarray, LineEvidence]:
    """Fit least squares to released sums (6, ...) of one table or several; NaN where it failed."""
    n, su, sv, suu, suv, svv = sums
    rows = np.where(n > 0, n, np.nan)
    about_mean = suu - su * su / rows
    about_mean = np.where(about_mean > 0, about_mean, np.nan)
    covariation = suv - su * sv / rows
    slope = covariation / about_mean
    line = Line.of(problem)
    residual = np.maximum(svv - sv * sv / rows - slope * covariation, scale)
    params = line.params((sv - slope * su) / rows + (1 - slope) / 2, slope)
    found = LineEvidence(totals=sums.T, sigma2=residual / rows * line.y_width**2)
    if problem.estimated:
        return params, found
    scales, units = (np.broadcast_to(v, (*n.shape, len(v))) for v in _known(problem, scale))
    return params, replace(found, scales=scales, line=units)


_FAIL = "the noisy variance of x was not positive (FAIL)"
METHOD = Method(
    name="noisy_moments",
    paper="this package; sums in the place of Alabi et al. 2022, Algorithm 1",
    guarantee="pure",
    neighbors=(REPLACE_ONE, ADD_REMOVE),
    single_regressor=True,
    standard_errors="intervals and tests by a pivot; standard errors to first order in the noise",
    release=release,
    fixed_size_summary=True,
    options=OPTIONS,
    each=Each(release_each),
)
