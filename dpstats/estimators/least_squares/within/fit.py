"""Solve for coefficients from released within-group sums, and describe methods that do."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from dpstats.estimators.contract import Method, Problem, Ranges, Release
from dpstats.estimators.contract.release import CLIPPED, NO_PREDICTIONS
from dpstats.estimators.least_squares.dense import NoisySums
from dpstats.estimators.least_squares.dense.fit import ABOUT_LEAST_SQUARES, is_identified
from dpstats.estimators.least_squares.dense.unidentified import unidentified
from dpstats.estimators.least_squares.within.groups import within_box
from dpstats.evidence import SumsEvidence
from dpstats.numerics.ridge import inverse, ridge

_NOTE = (
    "the effects of the absorbed column are not released; the residual variance divides by a noisy "
    "count of rows less groups"
)


def fit_within(sums: NoisySums, problem: Problem, penalty_of: Callable) -> Release:
    """Solve for the coefficients; a function of released values.

    The ``rows`` of the sums are rows less groups, or the degrees of freedom of units.
    Where a ridge is needed, intervals are those of least squares on the same sums, as in
    :mod:`dpstats.estimators.least_squares.adassp`.
    """
    box = within_box(problem)
    penalty = penalty_of(sums.gram, sums.scales[0])
    transform, shift = box.linear_map()
    evidence = SumsEvidence(
        gram=sums.gram, cross=sums.cross, square=sums.square, scales=sums.scales, ridge=penalty,
        transform=transform, shift=shift,
    )  # fmt: skip
    if not is_identified(sums):
        found = unidentified(sums, box, problem, evidence)
    elif penalty > 0:
        plain = fit_within(sums, problem, _none)
        params = transform @ inverse(sums.gram, penalty, sums.scales[0]) @ sums.cross + shift
        companion = None if problem.estimated else replace(plain, note=ABOUT_LEAST_SQUARES)
        evidence = replace(evidence, unbounded=0.0)
        found = replace(plain, params=params, cov=None, evidence=evidence, companion=companion)
    else:
        found = _plain(sums, problem, evidence)
    return replace(
        found,
        predictions=np.full(len(problem.x_new), np.nan),
        reasons={**found.reasons, "predictions": NO_PREDICTIONS},
        note=_NOTE,
    )


def _plain(sums: NoisySums, problem: Problem, evidence: SumsEvidence) -> Release:
    """Fit least squares, with a covariance unless ranges were estimated."""
    box = within_box(problem)
    transform, shift = box.linear_map()
    theta, cov = inverse(sums.gram, 0.0, sums.scales[0]) @ sums.cross, None
    if not problem.estimated:
        assert sums.rows is not None, "degrees of freedom are released"
        energy, rows = sums.energy(theta), sums.rows
        sigma2 = energy / max(rows - len(theta), 1.0)
        evidence = replace(evidence, energy=energy, rows=rows, sigma2=sigma2 * box.y_scale**2)
        cov = transform @ _covariance(sums, theta, sigma2) @ transform.T
    reasons = {"bse": CLIPPED} if problem.estimated else {}
    params = transform @ theta + shift
    return Release(params, problem.x_new @ params, cov, reasons=reasons, evidence=evidence)


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


def absorbing(
    plain: Method, release_of: Callable, cov_type: tuple[str, Callable], assumption: str
) -> Method:
    """Describe what a method does where it absorbs effects, by ``release_of`` with its penalty."""
    return Method(
        plain.name,
        plain.paper,
        guarantee=plain.guarantee,
        neighbors=plain.neighbors,
        single_regressor=False,
        standard_errors=plain.standard_errors,
        release=partial(release_of, PENALTIES[plain.name]),
        fixed_size_summary=True,
        options={"cov_type": cov_type},
        assumptions=(assumption,),
        ranges=Ranges(plain.ranges.share),
        takes=frozenset({"units", "basis"}),
    )
