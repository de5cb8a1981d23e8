"""Turn the position of noisy Newton steps into coefficients, a covariance and a status."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpstats.estimators.contract import Problem, Reference, Release
from dpstats.estimators.least_squares.dense.robust_covariance import COV_TYPES
from dpstats.estimators.newton.row_sums import IndicatorBasis
from dpstats.estimators.newton.steps.coefficient_errors import REASON, CoefficientErrors
from dpstats.estimators.newton.steps.goodness import Explained, goodness, goodness_left
from dpstats.estimators.newton.steps.hidden_rows import (
    has_room,
    note_on_hidden_rows,
    response_has_room,
)
from dpstats.estimators.newton.steps.queries import Counted
from dpstats.estimators.newton.steps.state import PRIOR, NewtonState, prior_variance
from dpstats.estimators.newton.steps.whitening import Whitening
from dpstats.evidence import NewtonEvidence

# All directions are weak where less than this part of X'X stands clear of its noise: steps then
# stop halfway (benchmarks/tails.py, 21 coefficients, 1,729 rows). So they do where noise has more
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
# The variance of the response was released too small where residuals' mean square is more than so
# many times as large, less so many deviations of its noise.
_OFF, _OFF_CLEAR = 2.0, 2.0
# The distance to least squares is taken to be as large as if X'X were at least this share of what
# it is taken for (benchmarks/few_rows.py; 0.3 and 1 were tried).
_LEAST_SHARE = 0.5
# The prior is taken to leave at least this part of a direction.
_LEAST_LEFT = 0.05
# A direction is hidden where X'X may be off by more than this part of itself, and more than half of
# it is along columns of which one value alone is seen.
_UNCLEAR, _UNSEEN_PART, _LEAST_PART = 0.3, 0.5, 1e-300
# A fit is imprecise where the noise moves some coefficient by more than this, in units of the
# response's standard deviation over the column's; an indicator counts as a column of 0.4.
_PRECISE, _INDICATOR_SD = 0.15, 0.4
_IMPRECISE = (
    "imprecise: the noise moves some coefficient by more than {:.2g} standard deviations of the "
    "response for one of its column"
)


@dataclass(frozen=True)
class _Fit:
    """Hold what :func:`release_of` is given of a fit."""

    state: NewtonState
    basis: IndicatorBasis
    whitening: Whitening
    wild: bool
    problem: Problem
    rows: float
    counted: Counted

    @property
    def reference(self) -> Reference:
        """Return what was released of the columns and the response."""
        assert self.problem.reference is not None
        return self.problem.reference

    @cached_property
    def directions(self) -> np.ndarray:
        """Return the coefficients (S, p) of the whitened directions in units of the response."""
        return self.basis.from_span @ self.whitening.map

    @cached_property
    def shrunken(self) -> np.ndarray:
        """Return the position (p,) as the prior shrinks it, zero where the fit failed."""
        return self._toward_prior * (not self.failed)

    @property
    def _toward_prior(self) -> np.ndarray:
        return self.state.eta / (1 + len(self.state.eta) / PRIOR * self.state.variance)

    @cached_property
    def failed(self) -> bool:
        """Tell whether coefficients explain more than the variance of the response."""
        eta = self._toward_prior
        return float(eta @ eta) > _MOST_EXPLAINED

    @property
    def off(self) -> float:
        """Return by what factor the response's variance must exceed the released one, at least 1.

        It is no less than residuals' mean square. Errors are bounded in units of it, as
        coefficients explain no more than all of it. Of units, or of rows with weights, squares are
        those of scores, which do not tell.
        """
        if self.problem.in_parts:
            return 1.0
        squares = self.state.squares
        return float(np.fmax((squares.clipped - _OFF_CLEAR * squares.noise) / _OFF, 1.0))

    @cached_property
    def variance(self) -> np.ndarray:
        """Return the variances (p,) of the position, at least as large as what steps have left.

        The distance from zero to least squares explains a part of the response's variance, X'X
        times its square. So where X'X is a share of what it is taken for, that distance is larger
        by one over the root of the share.
        """
        state, shares = self.state, np.maximum(self.whitening.shares, _LEAST_SHARE)
        left = (np.square(state.left) / shares).mean(axis=1)
        return np.maximum(state.variance, prior_variance(len(state.variance)) * left)

    @property
    def weak(self) -> np.ndarray:
        """Tell which directions (p,) the noise could account for: no more is known than before."""
        weak = self.variance > prior_variance(len(self.variance))
        every = self.failed or self.wild or is_swamped(self.whitening)
        hidden = (self.whitening.unsure > _UNCLEAR) & (self._unseen > _UNSEEN_PART)
        return (self.whitening.eigenvalues < 0) | weak | every | hidden

    @property
    def _unseen(self) -> np.ndarray:
        """Return the parts (p,) of directions along columns of which one value alone is seen.

        Their scales are guesses, and X'X along them may be as much smaller than it is taken for as
        their deviations are.
        """
        unseen, layout = np.zeros(len(self.directions), dtype=bool), self.problem.layout
        assert layout is not None
        unseen[layout.numeric] = np.isinf(self.reference.extremes.unseen_widths)
        slopes = np.arange(len(unseen)) != self.problem.intercept
        parts = (column_scales(self.problem)[:, None] * self.directions)[slopes] ** 2
        return parts[unseen[slopes]].sum(axis=0) / np.maximum(parts.sum(axis=0), _LEAST_PART)

    def errors(self) -> CoefficientErrors:
        """Return the errors of coefficients, of which weak directions hide some."""
        state, sampling = self.state, self.state.sampling(self.whitening, self.rows)
        back = self.reference.y_scale * self.directions
        # what the prior has moved a direction by counts as an error of unknown sign
        noise = self.off * (self.variance + (state.eta - self.shrunken) ** 2)
        variance = noise + np.diag(sampling)
        cov = (back * variance) @ back.T
        if state.products is not None:
            cov += back @ (sampling - np.diag(np.diag(sampling))) @ back.T
        hidden = (back * (variance * self.weak)) @ back.T
        tilt = concentration(self.directions, self.problem)
        bias = state.bias.covariance(back, tilt, self.reference.y_scale * self.basis.constant)
        bias *= self.off
        return CoefficientErrors.of(cov, hidden, (back * noise) @ back.T, bias)

    def moved(self, errors: CoefficientErrors) -> np.ndarray:
        """Return how far noise moves coefficients (S,), in units of response and columns."""
        scales = column_scales(self.problem)
        return np.sqrt(np.diag(errors.privacy)) * scales / self.reference.y_scale

    def evidence(self, errors: CoefficientErrors, ends: tuple[float, float]) -> NewtonEvidence:
        """Return what the fit tells beyond coefficients, where predictions stay within ends."""
        problem, state, counted, figures = self.problem, self.state, self.counted, {}
        if not (self.failed or self.wild):
            figures = self.goodness()
        if state.clusters is not None:
            number, error = state.clusters.number, state.clusters.error
            figures |= {"clusters": number, "clusters_error": error}
        if problem.weighted:
            figures |= {"weighted_rows": counted.number, "weighted_rows_error": counted.noise}
            figures |= {"mean_weight": counted.part}
        has_far = has_room(self.basis, problem) or response_has_room(problem)
        # where rows count for parts the mean square of scores is not that of residuals
        sigma2 = None if problem.in_parts else self.reference.y_scale**2 * state.square
        return NewtonEvidence(
            hidden_cov=errors.hidden, privacy_cov=errors.privacy, rows=self.rows,
            sigma2=sigma2, down_weighted=1 - state.slope,
            response_range=ends, fit_rows=counted.number, fit_rows_error=counted.noise,
            hidden_rows=state.hidden if errors.seen.any() and has_far else 0.0, **figures,
        )  # fmt: skip

    def goodness(self) -> dict[str, float]:
        """Return R-squared and the residual variance, with their standard errors.

        Where rows count for parts the squares of scores tell no mean square of residuals: it is
        what is left of the response's. That may be off by what a tail that noise hides adds to it.
        Where rows count for a part q on average, those of the tail may count for up to 1 / q times
        as much as others: by 1 / root q, halfway on a log scale. With weights it is in units of the
        largest one, so there is none.
        """
        state, whitening, basis, problem = self.state, self.whitening, self.basis, self.problem
        reference, layout, constant = self.reference, problem.layout, None
        assert layout is not None
        if basis.has_constant:
            constant = np.linalg.lstsq(self.directions, basis.constant, rcond=None)[0]
        explained = Explained.of(
            state.eta, state.variance, whitening.kept, constant, whitening.errors, self.rows,
            state.bias,
        )  # fmt: skip
        slopes = (self.directions @ state.eta)[layout.numeric]
        sizes = slopes * np.linalg.norm(reference.root, axis=1)
        explained = explained.with_far(sizes**2, reference.extremes, whitening.reach)
        unit = reference.y_scale, self.rows, len(state.eta)
        if not problem.in_parts:
            return goodness(explained, state.squares, *unit)
        hidden = (reference.extremes.y_far_square - 1) / math.sqrt(self.counted.part)
        figures = goodness_left(explained, math.hypot(reference.extremes.y_error, hidden), *unit)
        return {k: v for k, v in figures.items() if not (problem.weighted and "scale" in k)}

    def reason(self, errors: CoefficientErrors, few: str) -> str:
        """Say why coefficients that are not seen have no interval."""
        if self.failed:
            return _FAILED
        if few or self.reference.extremes.y_unseen:
            return few or _UNSEEN
        return _WILD if self.wild else REASON if errors.lost.any() else _HIDDEN_REASON


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
    fit = _Fit(state, basis, whitening, wild, problem, rows, counted)
    reference, errors, eta = fit.reference, fit.errors(), fit.shrunken
    slopes = np.arange(len(errors.cov)) != problem.intercept
    hides_all = slopes.any() and not errors.seen[slopes].any()
    if hides_all and not _explains(state, whitening.kept):
        eta = np.zeros(len(eta))  # the mean predicts better than coefficients that are noise
    if state.clusters is not None and state.clusters.are_few:
        few = few or FEW_CLUSTERS
    if few or reference.extremes.y_unseen:
        errors = errors.all_hidden()
    params = reference.y_scale * (fit.directions @ eta) + reference.y_center * basis.constant
    ends = _ends(reference, basis.has_constant)
    evidence = fit.evidence(errors, ends)
    precise = fit.moved(errors)[slopes].max(initial=0.0) <= _PRECISE
    status = "ok" if errors.seen[slopes].all() and precise else "imprecise"
    if slopes.any() and not errors.seen[slopes].any():
        status = "constant" if fit.failed else "not_identified"
    reason = fit.reason(errors, few)
    reasons = {} if errors.seen.all() else {"bse": reason, "conf_int": reason}
    if np.isnan(problem.x_new).any():
        reasons["predictions"] = _NO_VALUE
    notes = [_IMPRECISE.format(_PRECISE)] if status == "imprecise" and not precise else []
    notes.append(note_on_hidden_rows(evidence))
    clustered = problem.by_unit or state.clusters is not None
    return Release(
        params=params,
        predictions=np.clip(problem.x_new @ params, *ends),
        cov=errors.cov,
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


def column_scales(problem: Problem) -> np.ndarray:
    """Return standard deviations (S,) of the columns as released, one for all indicators."""
    assert problem.layout is not None and problem.reference is not None
    scales = np.full(len(problem.low), _INDICATOR_SD)
    scales[problem.layout.numeric] = np.linalg.norm(problem.reference.root, axis=1)
    return scales
