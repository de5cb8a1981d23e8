"""Fit least squares to noisy cross-products, with a covariance that contains the noise."""

from dataclasses import replace

import numpy as np

from dpstats.estimators.contract import Problem, Release
from dpstats.estimators.least_squares.dense.gram import clipped_box
from dpstats.estimators.least_squares.dense.noisy_sums import NoisySums
from dpstats.estimators.least_squares.dense.shrinkage import NoisyMoments
from dpstats.estimators.least_squares.dense.unidentified import unidentified
from dpstats.evidence import SumsEvidence
from dpstats.numerics.ridge import inverse, least_eigenvalue

ABOUT_LEAST_SQUARES = (
    "standard errors, tests and intervals are about least squares on the same noisy sums, which is "
    "not shrunken"
)
_HIDDEN = (
    "the noise could account for a direction of X'X, so the data do not bound the coefficients; "
    "raise epsilon or n"
)


def least_squares(sums: NoisySums, problem: Problem) -> Release:
    """Fit least squares to released sums, or say that it is not identified.

    The rule is that of :func:`is_identified`, and what is released where it is not that of
    :func:`~dpstats.estimators.least_squares.dense.unidentified.unidentified`. A function of
    released values, so it costs nothing.
    """
    if not is_identified(sums):
        return unidentified(sums, clipped_box(problem), problem)
    return fitted(sums, problem, None)


def is_identified(sums: NoisySums) -> bool:
    """Tell whether the smallest eigenvalue of X'X stands clear of the noise."""
    return bool(least_eigenvalue(sums.gram, sums.scales[0]) > 0)


def with_intervals(shrunken: Release, sums: NoisySums, problem: Problem) -> Release:
    """Add the intervals of least squares on the same sums to a fit that is shrunken.

    They are about its own coefficients, so no shrinkage biases them, and are shown by the rule of
    :func:`is_identified`. Whether a ridge was needed has no part in it: among the draws of the
    noise those without one are the ones that overstate X'X.
    """
    identified = is_identified(sums)
    evidence = replace(shrunken.evidence, unbounded=float(not identified))
    if not identified:
        hidden = dict.fromkeys(("bse", "conf_int"), _HIDDEN)
        return replace(shrunken, reasons=hidden, evidence=evidence)
    if reason := reason_for_no_errors(problem):
        return replace(shrunken, reasons={"bse": reason}, evidence=evidence)
    plain = replace(least_squares(sums, problem), note=ABOUT_LEAST_SQUARES)
    return replace(shrunken, reasons={}, companion=plain)


def fitted(sums: NoisySums, problem: Problem, penalty: np.ndarray | float | None) -> Release:
    """Solve for the coefficients with a ridge, and for their covariance where it is zero.

    ``penalty`` is None for a method that never has one.
    """
    gram, cross, sigma, box = sums.gram, sums.cross, sums.scales, clipped_box(problem)
    theta = inverse(gram, penalty or 0.0, sigma[0]) @ cross
    transform, shift = box.linear_map()
    params = transform @ theta + shift
    mean = NoisyMoments.of(sums, box, problem.intercept).response(box)
    weighted = {} if sums.rows is None else {
        "weighted_rows": sums.rows + sums.rows_deviation,
        "weighted_rows_error": sums.rows_deviation,
    }  # fmt: skip
    evidence = SumsEvidence(
        gram=gram, cross=cross, square=sums.square, scales=sigma, transform=transform, shift=shift,
        y_scale=box.y_scale, ridge=penalty, **mean, **weighted,
    )  # fmt: skip
    if penalty:
        return Release(params, problem.x_new @ params, evidence=evidence)
    cov, reason = None, reason_for_no_errors(problem)
    if not reason:
        evidence = replace(evidence, **_errors(sums, theta, problem))
        cov = evidence.covariance(problem.intercept)
    return Release(
        params=params,
        predictions=problem.x_new @ params,
        cov=cov,
        reasons={"bse": reason} if reason else {},
        evidence=evidence,
    )


def reason_for_no_errors(problem: Problem) -> str:
    """Return the public reason why there are no standard errors, or an empty string."""
    if problem.intercept is None:
        return "the number of rows was not released; a model with an intercept releases it"
    return ""


def _errors(sums: NoisySums, theta: np.ndarray, problem: Problem) -> dict[str, float]:
    """Estimate the number of rows, the residual sum of squares and the residual variance.

    Where rows have weights, the sum of squares is the weighted one, and the variance is its
    quotient with the sum of the weights.
    """
    box, one, energy = clipped_box(problem), problem.intercept, sums.energy(theta)
    total = sums.gram[one, one] * box.scale[one] ** 2  # of the weights, or of the rows
    rows = total if sums.rows is None else max(sums.rows, total)  # no weight exceeds one
    freedom = total - len(theta) * (sums.rows is None)
    sigma2 = energy / max(freedom, 1.0) * box.y_scale**2
    return {"rows": float(rows), "energy": energy, "sigma2": float(sigma2)}
