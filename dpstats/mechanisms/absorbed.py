"""Fit with absorbed effects of groups: AdaSSP and SSP on within-group cross-products."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from dpstats import option_checks
from dpstats.errors import ArgumentError
from dpstats.mechanisms.shared import Method, NoisySums, Problem, Release, WithinSums
from dpstats.mechanisms.shared.release import CLIPPED
from dpstats.mechanisms.shared.robust_covariance import COV_TYPES
from dpstats.mechanisms.shared.within_groups import (
    grouped_moments,
    release_within,
    within_box,
    within_norm,
)
from dpstats.noise import Noise
from dpstats.numerics import GroupedMoments
from dpstats.numerics.ridge import inverse, least_eigenvalue, ridge
from dpstats.privacy import GDP

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


def release(
    penalty_of: Callable,
    moments: GroupedMoments,
    problem: Problem,
    cost: GDP,
    noise: Noise,
    cov_type: str = COV_TYPES[0],
) -> Release:
    r"""Fit the regression of deviations from group means, with a ridge as in AdaSSP or without.

    Guarantee. mu-GDP for the given relation, hence (epsilon, delta)-DP: the releases are those
    of :func:`~dpstats.mechanisms.shared.within_groups.release_within`, and the rest is
    post-processing. Nothing is released about any one group, and the noise does not depend on their
    number.

    With noise E on W_uu and w on W_uv, theta - theta_0 is about W_uu^-1 (W_ue + w - E theta), as in
    :mod:`dpstats.mechanisms.adassp`. The only ``cov_type`` is the one for errors of one variance.
    """
    within = release_within(moments, within_norm(problem), problem.neighbors, cost, noise)
    return _fit(within, problem, penalty_of)


def _fit(within: WithinSums, problem: Problem, penalty_of: Callable) -> Release:
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


def _cov_type(value) -> str:
    """Return "nonrobust"; HC1 is refused with the reason.

    The scores are (u - m_g) e with the private mean m_g of the row's group. A row that joins moves
    m_g and so the scores of all rows of its group, and their squares are no sum over rows of
    functions of one row each, which is what the second release of HC1 needs.
    """
    if value == "HC1":
        raise ArgumentError(
            'cov_type="HC1" is not available with |: group means are private, so one row moves the '
            "scores of all rows of its group; leave it out, or write the column as C(column) with "
            "levels="
        )
    return option_checks.word("cov_type", *COV_TYPES)(value)


def methods(plain: Sequence[Method]) -> dict[str, Method]:
    """Return, by name, what methods on cross-products do with ``y ~ x | column``."""
    return {method.name: _absorbing(method, _PENALTIES[method.name]) for method in plain}


def _absorbing(plain: Method, penalty_of: Callable) -> Method:
    """Return the variant of a method that absorbs the effects of groups."""
    return replace(
        plain,
        summarise=grouped_moments,
        release=partial(release, penalty_of),
        options={"cov_type": (COV_TYPES[0], _cov_type)},
        second_pass=None,
        release_each=None,
        ranges_everywhere=False,
        widened_ranges=False,
        reads_codes=None,
        takes_weights=False,
        assumptions=(*plain.assumptions, _ABSORBED),
    )


_ABSORBED = (
    "the labels of the absorbed column stay private; a row whose label is missing is left out"
)
_PENALTIES = {"adassp": ridge, "ssp": _none_if_definite}
