"""Turn the position of noisy Newton steps into coefficients, a covariance and a status."""

import math

import numpy as np

from dpstats.estimators.contract import Problem, Reference, Release
from dpstats.estimators.least_squares.dense.robust_covariance import COV_TYPES
from dpstats.estimators.newton.row_sums import IndicatorBasis
from dpstats.estimators.newton.steps.goodness import Explained, goodness, goodness_left
from dpstats.estimators.newton.steps.hidden_rows import (
    has_room,
    note_on_hidden_rows,
    response_has_room,
)
from dpstats.estimators.newton.steps.overflow import REASON, marked, overflows
from dpstats.estimators.newton.steps.queries import Counted
from dpstats.estimators.newton.steps.state import PRIOR, NewtonState, prior_variance
from dpstats.estimators.newton.steps.whitening import Whitening
from dpstats.evidence import NewtonEvidence

# A direction is weak if its variance exceeds ``_WEAK`` times its prior variance; a coefficient is
# hidden if weak directions have ``_HIDDEN`` of its variance or more.
_WEAK, _HIDDEN = 0.25, 0.5
# All are where less than this part of X'X stands clear of its noise: steps then stop halfway
# (benchmarks/tails.py, a table of 21 coefficients and 1,729 rows). So they do where noise has more
# than this part of p directions: the noise on k of them is one random symmetric matrix in all
# steps, of a norm of about 2 root(k / p) in units of X'X there, and from 1 on steps come no closer.
# For k up to two it is smaller. (A table of 36 coefficients and 17,379 rows at epsilon .3: the
# worst slope held a third of its intervals.)
_SEEN, _SWAMPED, _FEW = 0.6, 0.25, 2.0
_HIDDEN_REASON = (
    "the noise could account for the directions that decide some coefficients, so their intervals "
    "are unbounded; raise epsilon or n, or merge rare levels"
)
_NO_VALUE = "a term has no value at a quarter of the estimated range; give x_new= where it has one"
_UNSEEN = "nothing but one value is seen of the response, so intervals are unbounded; raise epsilon"
FEW_CLUSTERS = (
    "the released number of clusters is below 6, too few for clustered errors, so intervals are "
    "unbounded; name a column of more and smaller clusters, or take errors as independent by "
    'cov_type="nonrobust"'
)
_WILD = (
    "the estimated ranges miss many rows, so intervals are unbounded; declare bounds= or raise "
    "epsilon"
)
_FAILED = (
    "the noise is larger than the response's own variance, so only the center of the response is "
    "released; raise epsilon"
)
# Coefficients explain at most the variance of the response, of which heavy tails may be cut off.
_MOST_EXPLAINED = 3.0
# Predictions stay between the ends of the response as far as they are seen, and of these within so
# many standard deviations of its mean; never within fewer than so many.
_FAR, _NEAR = 5.0, 2.0
# The square of what is cut off the scores along a coefficient over an even share of it, by the
# kurtosis of its column; set by simulation (benchmarks/tails.py).
_KURTOSIS, _CONCENTRATION = (1.5, 3.0, 6.0), (0.3, 0.8, 1.7)
# The prior is taken to leave at least this part of a direction.
_LEAST_LEFT = 0.05
# A fit is imprecise where the noise moves some coefficient by more than this, in units of the
# response's standard deviation over the column's; an indicator counts as a column of 0.4.
_PRECISE, _INDICATOR_SD = 0.15, 0.4
_IMPRECISE = (
    "imprecise: the noise moves some coefficient by more than {:.2g} standard deviations of the "
    "response for one of its column"
)


def release_of(
    state: NewtonState,
    basis: IndicatorBasis,
    whitening: Whitening,
    wild: bool,
    problem: Problem,
    rows: float,
    counted: Counted,
    few: str = "",
) -> Release:
    """Return coefficients, their covariance, and which of them weak directions dominate.

    ``rows`` is the number of rows as ``counted``, with weights the sum of their parts, or twice the
    noise on it; where they are too ``few`` for scales of the columns, which says so, no interval is
    shown.
    """
    reference, p = problem.reference, len(state.eta)
    assert reference is not None
    directions = basis.from_span @ whitening.map
    eta = state.eta / (1 + p / PRIOR * state.variance)
    failed = float(eta @ eta) > _MOST_EXPLAINED
    eta = eta * (not failed)
    sampling = state.sampling(whitening, rows)
    # what the prior has moved a direction by counts as an error of unknown sign
    noise = state.variance + (state.eta - eta) ** 2
    weak = (
        (whitening.eigenvalues < 0) | (state.variance > _WEAK * prior_variance(p)) | failed | wild
    )
    weak |= is_swamped(whitening)
    back = reference.y_scale * directions
    variance = noise + np.diag(sampling)
    cov = (back * variance) @ back.T
    if state.products is not None:
        cov += back @ (sampling - np.diag(np.diag(sampling))) @ back.T
    hidden = (back * (variance * weak)) @ back.T
    tilt = concentration(directions, problem)
    bias = state.bias.covariance(back, tilt, reference.y_scale * basis.constant)
    privacy = (back * noise) @ back.T + bias
    lost = overflows(cov + bias, privacy)
    slopes = np.arange(len(cov)) != problem.intercept
    seen = (np.diag(hidden) < _HIDDEN * np.diag(cov)) & ~lost
    identified = not slopes.any() or bool(seen[slopes].any())
    if not identified and not _explains(state, whitening.kept):
        eta = np.zeros(p)  # the mean predicts better than coefficients that are noise
    if state.clusters is not None and state.clusters.are_few:
        few = few or FEW_CLUSTERS
    if few or reference.extremes.y_unseen:
        hidden, seen = cov, np.zeros_like(seen)
    params = reference.y_scale * (directions @ eta) + reference.y_center * basis.constant
    cov, hidden = cov + bias, hidden + bias * np.outer(~seen, ~seen)
    cov, hidden, privacy = (marked(one, lost) for one in (cov, hidden, privacy))
    ends = _ends(reference, basis.has_constant)
    figures = {}
    if not (failed or wild):
        figures = _goodness(state, basis, whitening, directions, counted, rows, problem)
    if state.clusters is not None:
        number, error = state.clusters.number, state.clusters.error
        figures |= {"clusters": number, "clusters_error": error}
    if problem.weighted:
        figures |= {"weighted_rows": counted.number, "weighted_rows_error": counted.noise}
        figures |= {"mean_weight": counted.part}
    has_far = has_room(basis, problem) or response_has_room(problem)
    # where rows count for parts the mean square of scores is not that of residuals
    sigma2 = None if problem.in_parts else reference.y_scale**2 * state.square
    evidence = NewtonEvidence(
        hidden_cov=hidden, privacy_cov=privacy, rows=rows,
        sigma2=sigma2, down_weighted=1 - state.slope,
        response_range=ends, fit_rows=counted.number, fit_rows_error=counted.noise,
        hidden_rows=state.hidden if seen.any() and has_far else 0.0, **figures,
    )  # fmt: skip
    moved = np.sqrt(np.diag(privacy)) * column_scales(problem) / reference.y_scale
    precise = moved[slopes].max(initial=0.0) <= _PRECISE
    status = "ok" if seen[slopes].all() and precise else "imprecise"
    if slopes.any() and not seen[slopes].any():
        status = "constant" if failed else "not_identified"
    notes = [_IMPRECISE.format(_PRECISE)] if status == "imprecise" and not precise else []
    notes.append(note_on_hidden_rows(evidence))
    hidden_reason = few or (_WILD if wild else REASON if lost.any() else _HIDDEN_REASON)
    if failed or reference.extremes.y_unseen:
        hidden_reason = _FAILED if failed else _UNSEEN
    clustered = problem.by_unit or state.clusters is not None
    reasons = {} if seen.all() else {"bse": hidden_reason, "conf_int": hidden_reason}
    if np.isnan(problem.x_new).any():
        reasons["predictions"] = _NO_VALUE
    return Release(
        params=params,
        predictions=np.clip(problem.x_new @ params, *ends),
        cov=cov,
        status=status,
        reasons=reasons,
        evidence=evidence,
        cov_type=COV_TYPES[2 if clustered else int(state.products is not None)],
        note="; ".join(filter(None, notes)),
    )


def is_swamped(whitening: Whitening) -> bool:
    """Tell whether so little of X'X stands clear of its noise that steps stop halfway."""
    p, clear = len(whitening.kept), whitening.dimension
    return clear < _SEEN * p or p - clear > max(_SWAMPED * p, _FEW)


def _ends(reference: Reference, has_constant: bool) -> tuple[float, float]:
    """Return between which ends predictions stay."""
    low, high = reference.extremes.y_ends.tolist() if has_constant else (-_FAR, _FAR)
    low, high = min(max(low, -_FAR), -_NEAR), min(max(high, _NEAR), _FAR)
    return (
        reference.y_center + low * reference.y_scale,
        reference.y_center + high * reference.y_scale,
    )


def _explains(state: NewtonState, kept: np.ndarray) -> bool:
    """Tell whether a position explains more than noise does, before a prior shrank it.

    It does not where steps were so long that less is known of it than the prior does.
    """
    prior = prior_variance(len(kept))
    if state.variance.mean() > prior:
        return False
    left = np.maximum(1 - state.variance / prior, _LEAST_LEFT)
    return bool(kept @ ((state.eta / left) ** 2 - state.variance / left) > 0)


def concentration(directions: np.ndarray, problem: Problem) -> np.ndarray:
    """Return the clipping bias along each slope over that of an even spread, (S,), by kurtosis.

    ``directions`` (S, p) are coefficients in units of the response. Where few rows have much of a
    column, they are the ones whose scores are long, and what is cut points along it; where values
    are spread evenly it is less than an even share. Of an indicator with a share q of the rows the
    kurtosis is about 1 / (q (1 - q)), as its variance, which X'X shows.
    """
    assert problem.layout is not None and problem.reference is not None
    kurtosis = (directions**2).sum(axis=1) - 2.0
    kurtosis[problem.layout.numeric] = problem.reference.extremes.kurtosis
    return np.sqrt(np.interp(kurtosis, _KURTOSIS, _CONCENTRATION))


def _goodness(
    state: NewtonState, basis: IndicatorBasis, whitening: Whitening, directions: np.ndarray,
    counted: Counted, rows: float, problem: Problem,
) -> dict[str, float]:  # fmt: skip
    """Return R-squared and the residual variance, with their standard errors.

    Where rows count for parts the squares of scores tell no mean square of residuals: it is what is
    left of the response's. That may be off by what a tail that noise hides adds to it. Where rows
    count for a part q on average, those of the tail may count for up to 1 / q times as much as
    others: by 1 / root q, halfway on a log scale. With weights it is in units of the largest one,
    so there is none.
    """
    reference, layout, constant = problem.reference, problem.layout, None
    assert reference is not None and layout is not None
    if basis.has_constant:
        constant = np.linalg.lstsq(directions, basis.constant, rcond=None)[0]
    explained = Explained.of(
        state.eta, state.variance, whitening.kept, constant, whitening.errors, rows, state.bias
    )
    slopes = (directions @ state.eta)[layout.numeric]
    sizes = slopes * np.linalg.norm(reference.root, axis=1)
    explained = explained.with_far(sizes**2, reference.extremes, whitening.reach)
    unit = reference.y_scale, rows, len(state.eta)
    if problem.in_parts:
        hidden = (reference.extremes.y_far_square - 1) / math.sqrt(counted.part)
        figures = goodness_left(explained, math.hypot(reference.extremes.y_error, hidden), *unit)
    else:
        figures = goodness(explained, state.squares, *unit)
    return {k: v for k, v in figures.items() if not (problem.weighted and "scale" in k)}


def column_scales(problem: Problem) -> np.ndarray:
    """Return standard deviations (S,) of the columns as released, one for all indicators."""
    assert problem.layout is not None and problem.reference is not None
    scales = np.full(len(problem.low), _INDICATOR_SD)
    scales[problem.layout.numeric] = np.linalg.norm(problem.reference.root, axis=1)
    return scales
