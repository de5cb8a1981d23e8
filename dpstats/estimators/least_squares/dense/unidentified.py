"""Release shrunken slopes, or the mean, where the noise hides every slope."""

from dataclasses import replace

import numpy as np

from dpstats.estimators.contract import Problem, Release
from dpstats.estimators.least_squares.dense.noisy_sums import NoisySums
from dpstats.estimators.least_squares.dense.shrinkage import NoisyMoments, shrunken_slopes
from dpstats.evidence import Evidence
from dpstats.numerics import Box

_MORE = "raise epsilon or n, or narrow bounds that are too wide"
MEAN = (
    "no slope is identified, as the noise could account for all of them, so the mean of the "
    f"response is released and slopes of zero; {_MORE}"
)
ZEROS = f"no slope is identified, as the noise could account for all of them, so all are 0; {_MORE}"
SHRUNKEN = (
    "no slope is identified by itself; together they predict better than a constant, so they are "
    f"released as shrunken as the noise calls for, for predictions and not to be read one by one; "
    f"{_MORE}"
)

RIDGED = (
    "no slope is identified by itself; they are released as the ridge shrinks them, for "
    f"predictions and not to be read one by one; {_MORE}"
)
_NOTHING = Evidence()


def ridged(fit: Release, problem: Problem) -> Release:
    """Release the coefficients of a ridge, through the origin, without intervals."""
    reasons = dict.fromkeys(("bse", "conf_int"), RIDGED)
    return replace(hidden(fit.params, True, problem, fit.evidence), reasons=reasons)


def unidentified(sums: NoisySums, box: Box, problem: Problem, known=_NOTHING) -> Release:
    """Release shrunken slopes where these predict better than a constant, else the mean and zeros.

    The rule, and its margin, are those of
    :func:`~dpstats.estimators.least_squares.dense.shrinkage.shrunken_slopes`, for sums in the
    coordinates of a box. ``known`` is evidence to keep. A function of released values, so it costs
    nothing.
    """
    noisy = NoisyMoments.of(sums, box, problem.intercept)
    slopes = shrunken_slopes(noisy)
    params = box.back(noisy.theta(slopes))
    known = replace(known, **noisy.response(box))
    return hidden(params, bool(slopes.any()), problem, known)


def hidden(params: np.ndarray, vary: bool, problem: Problem, known=_NOTHING) -> Release:
    """Release coefficients without intervals; ``vary`` says that some slope is not zero."""
    reason = SHRUNKEN if vary else ZEROS if problem.intercept is None else MEAN
    return Release(
        params=params,
        predictions=problem.x_new @ params,
        status="not_identified",
        reasons=dict.fromkeys(("bse", "conf_int"), reason),
        evidence=replace(known, unbounded=1.0),
    )
