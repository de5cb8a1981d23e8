"""Solve for coefficients from released within-group sums, with a ridge or without."""

import math
from collections.abc import Callable

import numpy as np

from dpstats.mechanisms.shared.noisy_sums import NoisySums
from dpstats.mechanisms.shared.release import CLIPPED, Problem, Release
from dpstats.mechanisms.shared.within_groups import WithinSums, within_box
from dpstats.numerics.ridge import inverse, least_eigenvalue, ridge

_NO_PREDICTIONS = (
    "a prediction needs the effect of its group, which is absorbed and not released; differences "
    "between predictions of one group are differences of the regressors times params"
)
_NOT_IDENTIFIED = (
    "the noise on X'X within groups could account for its smallest eigenvalue, so least squares is "
    'not identified; raise epsilon, or use method="adassp", which adds a ridge'
)
_RIDGE = (
    "the noise called for a ridge: it could account for a direction of X'X within groups, so the "
    "data do not bound the coefficients; raise epsilon or n"
)
_NOTE = (
    "the effects of the absorbed column are not released; the residual variance divides by a noisy "
    "count of rows less groups"
)


def fit_within(within: WithinSums, problem: Problem, penalty_of: Callable) -> Release:
    """Solve for the coefficients; a function of released values."""
    sums = within.sums
    penalty = penalty_of(sums.gram, sums.scales[0])
    if penalty is None:
        return Release.nothing(problem, "not_identified", _NOT_IDENTIFIED)
    theta = inverse(sums.gram, penalty, sums.scales[0]) @ sums.cross
    transform, shift = within_box(problem).linear_map()
    statistics = {
        "gram": sums.gram.tolist(),
        "cross": sums.cross.tolist(),
        "square": sums.square,
        "scales": list(sums.scales),
        "ridge": float(penalty),
        "transform": transform.tolist(),
        "shift": shift.tolist(),
    }
    reason = _RIDGE if penalty > 0 else CLIPPED if problem.estimated else ""
    cov = None
    if not reason:
        sigma2, y_scale = _errors(statistics, within, theta), within_box(problem).y_scale
        statistics["sigma2"] = sigma2 * y_scale**2
        cov = transform @ _covariance(sums, theta, sigma2) @ transform.T
    return Release(
        params=transform @ theta + shift,
        predictions=np.full(len(problem.x_new), np.nan),
        cov=cov,
        reasons={"predictions": _NO_PREDICTIONS} | ({"bse": reason} if reason else {}),
        statistics=statistics,
        note=_NOTE,
    )


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


def _none_if_definite(gram: np.ndarray, sigma: float) -> float | None:
    """Return 0, or None where the noise could account for the smallest eigenvalue."""
    return 0.0 if least_eigenvalue(gram, sigma) > 0 else None


PENALTIES = {"adassp": ridge, "ssp": _none_if_definite}
