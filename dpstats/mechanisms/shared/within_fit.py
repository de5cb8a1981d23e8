"""Solve for coefficients from released within-group sums, with a ridge or without."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dpstats.mechanisms.shared.least_squares import ABOUT_LEAST_SQUARES, is_identified
from dpstats.mechanisms.shared.noisy_sums import NoisySums
from dpstats.mechanisms.shared.release import CLIPPED, Problem, Release
from dpstats.mechanisms.shared.unidentified import unidentified
from dpstats.mechanisms.shared.within_groups import WithinSums, within_box
from dpstats.numerics.ridge import inverse, ridge

_NO_PREDICTIONS = (
    "a prediction needs the effect of its group, which is absorbed and not released; differences "
    "between predictions of one group are differences of the regressors times params"
)
_NOTE = (
    "the effects of the absorbed column are not released; the residual variance divides by a noisy "
    "count of rows less groups"
)


def fit_within(within: WithinSums, problem: Problem, penalty_of: Callable) -> Release:
    """Solve for the coefficients; a function of released values.

    Where a ridge is needed, intervals are those of least squares on the same sums, as in
    :mod:`dpstats.mechanisms.adassp`.
    """
    sums, box = within.sums, within_box(problem)
    penalty = penalty_of(sums.gram, sums.scales[0])
    transform, shift = box.linear_map()
    statistics = {
        "gram": sums.gram.tolist(),
        "cross": sums.cross.tolist(),
        "square": sums.square,
        "scales": list(sums.scales),
        "ridge": float(penalty),
        "transform": transform.tolist(),
        "shift": shift.tolist(),
    }
    if not is_identified(sums):
        found = unidentified(sums, box, problem, statistics)
    elif penalty > 0:
        plain = fit_within(within, problem, _none)
        params = transform @ inverse(sums.gram, penalty, sums.scales[0]) @ sums.cross + shift
        companion = None if problem.estimated else replace(plain, note=ABOUT_LEAST_SQUARES)
        statistics["unbounded"] = 0.0
        found = replace(plain, params=params, cov=None, statistics=statistics, companion=companion)
    else:
        found = _plain(within, problem, statistics)
    return replace(
        found,
        predictions=np.full(len(problem.x_new), np.nan),
        reasons={**found.reasons, "predictions": _NO_PREDICTIONS},
        note=_NOTE,
    )


def _plain(within: WithinSums, problem: Problem, statistics: dict) -> Release:
    """Fit least squares, with a covariance unless ranges were estimated."""
    box, sums = within_box(problem), within.sums
    transform, shift = box.linear_map()
    theta, cov = inverse(sums.gram, 0.0, sums.scales[0]) @ sums.cross, None
    if not problem.estimated:
        sigma2 = _errors(statistics, within, theta)
        statistics["sigma2"] = sigma2 * box.y_scale**2
        cov = transform @ _covariance(sums, theta, sigma2) @ transform.T
    reasons = {"bse": CLIPPED} if problem.estimated else {}
    params = transform @ theta + shift
    return Release(params, problem.x_new @ params, cov, reasons=reasons, statistics=statistics)


def _errors(statistics: dict, within: WithinSums, theta: np.ndarray) -> float:
    """Estimate the residual variance in scaled units; note what it is made of.

    The residual sum of squares and the degrees of freedom are noisy, and a variance that is too
    low by chance makes intervals too short. So a standard deviation of its noise is added to the
    former and one is subtracted from the latter. ``rows`` counts rows less groups.
    """
    sums, length = within.sums, theta @ theta
    quadratic = sums.scales[0] ** 2 * (2 * length**2 - np.sum(theta**4))
    deviation = math.sqrt(sums.scales[2] ** 2 + 4 * sums.scales[1] ** 2 * length + quadratic)
    energy = sums.square - 2 * theta @ sums.cross + theta @ sums.gram @ theta
    energy, rows = float(max(energy, 0.0) + deviation), within.degrees - within.deviation
    statistics |= {"rows": rows, "energy": energy}
    return energy / max(rows - len(theta), 1.0)


def _covariance(sums: NoisySums, theta: np.ndarray, sigma2: float) -> np.ndarray:
    """Compute the covariance of theta from errors of variance ``sigma2`` and privacy noise.

    Cov(E b) = s_A^2 (||b||^2 I + b b' - diag(b^2)) for a symmetric E with independent entries of
    standard deviation s_A on and above its diagonal.
    """
    bread = np.linalg.inv(sums.gram)
    of_gram, of_cross = sums.scales[0] ** 2, sums.scales[1] ** 2
    noise_part = (of_cross + of_gram * (theta @ theta)) * np.eye(len(theta))
    noise_part += of_gram * (np.outer(theta, theta) - np.diag(theta**2))
    return bread @ (sigma2 * sums.gram + noise_part) @ bread


def _none(gram: np.ndarray, sigma: float) -> float:
    """Return the ridge of least squares."""
    return 0.0


PENALTIES = {"adassp": ridge, "ssp": _none}
