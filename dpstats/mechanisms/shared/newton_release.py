"""Turn the position of noisy Newton steps into coefficients, a covariance and a status."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dpstats.mechanisms.shared.indicator_basis import IndicatorBasis
from dpstats.mechanisms.shared.newton_goodness import Explained, Squares, goodness
from dpstats.mechanisms.shared.release import Problem, Release

# A direction is weak whose variance stays above this part of its prior's, and a coefficient hidden
# where weak directions have this part of its variance.
_WEAK, _HIDDEN = 0.25, 0.5
_HIDDEN_REASON = (
    "the noise could account for the directions that decide some coefficients, so their intervals "
    "are unbounded; raise epsilon or n, or merge rare levels"
)
_NO_VALUE = "a term has no value at a quarter of the estimated range; give x_new= where it has one"
_FEW = (
    "the rows are too few at this epsilon for the scales of the columns to be known, so intervals "
    "are unbounded; raise epsilon"
)
_UNSEEN = (
    "nothing but zeros is seen of the response, so intervals are unbounded; raise epsilon, or "
    "declare its bounds="
)
_OF_A_LINE = ', or take method="exp_theil_sen" for one regressor with bounds'
_FAILED = (
    "the estimated ranges miss many rows or the noise is larger than the response's own variance, "
    "so only the center of the response is released; declare bounds= or raise epsilon"
)
# Coefficients explain at most the variance of the response, of which heavy tails may be cut off.
_MOST_EXPLAINED = 3.0
# Predictions stay within so many standard deviations of the response's mean.
_FAR = 5.0
# In each of p whitened directions a coefficient is shrunk by a prior of variance 2 / p; how much of
# it may be an error is taken from one of at least this variance.
_PRIOR, _LEAST_PRIOR = 2.0, 0.15
# The square of what is cut off the scores along a coefficient over an even share of it, by the
# kurtosis of its column; set by simulation (benchmarks/tails.py).
_KURTOSIS, _CONCENTRATION, _MOST_CONCENTRATED = (1.5, 3.0, 6.0), (0.3, 0.8), 5.0
# A fit is imprecise where the noise moves some coefficient by more than this, in units of the
# response's standard deviation over the column's; an indicator counts as a column of 0.4.
_PRECISE, _INDICATOR_SD = 0.15, 0.4
_IMPRECISE = (
    "imprecise: the noise moves some coefficient by more than {:.2g} standard deviations of the "
    "response for one of its column"
)


@dataclass(frozen=True)
class Whitening:
    """Map coordinates phi to directions in which X'X is about the number of rows.

    ``map`` (m, p), the part ``kept`` (p,) of each direction that stands clear of noise, by what
    part of itself X'X may be off there, ``unsure`` (p,), and the eigenvalues (p,) as released.
    ``error`` gives the variance of the step that noise in X'X causes, from the mean squares (p,) of
    a position.
    """

    map: np.ndarray
    kept: np.ndarray
    unsure: np.ndarray
    eigenvalues: np.ndarray
    error: Callable[[np.ndarray], np.ndarray]

    def divided(self, by: float) -> "Whitening":
        """Return the map to directions in which X'X is ``by`` times smaller, 1 or more.

        Some directions need no division, so each may be off by as much.
        """
        return replace(
            self,
            map=self.map / math.sqrt(by),
            unsure=np.maximum(self.unsure, 1 - 1 / by),
            error=lambda squares: self.error(squares) / by**2,
        )

    @property
    def dimension(self) -> float:
        """Return the mean squared norm of a whitened row, at least 1."""
        return max(float(self.kept.sum()), 1.0)


@dataclass(frozen=True)
class NewtonState:
    """Hold the position eta (p,) in whitened directions and the variance (p,) of its error.

    ``bias`` (p,) is the variance that clipped excess adds, ``square`` the mean square of scores,
    ``slope`` the part of the rows whose scores were not cut, and ``sigma`` the unit of their sizes.
    ``squares`` are the mean squares of residuals without what makes ``square`` conservative. With
    units, ``products`` (p, p) are those of their scores, clipped to ``limit``, with noise of
    ``products_deviation`` off the diagonal; the ``excess`` is what was cut off their squares. The
    last step ``moved`` the position by this squared length, of which noise is ``moved_noise``.
    """

    eta: np.ndarray
    variance: np.ndarray
    sigma: float = 1.0
    bias: np.ndarray | float = 0.0
    square: float = 1.0
    slope: float = 1.0
    squares: Squares = Squares()
    limit: float = math.inf
    excess: float = 0.0
    products: np.ndarray | None = None
    products_deviation: float = 0.0
    moved: float = 0.0
    moved_noise: float = 0.0

    def left_over(self, step: np.ndarray, step_variance: float) -> float:
        """Return what part of its squared length the last step left over, as a next one shows.

        That is the squared length of the next ``step`` (p,) less the noise in both, over that of
        the last one, at most 1. Steps stop short or go too far where few rows have much of X'X and
        their scores or leverages are cut; the next step is taken to leave as much of itself.
        """
        if not self.moved > 0:
            return 0.0
        beyond = float(step @ step) - len(step) * step_variance - self.moved_noise
        return min(max(beyond, 0.0) / self.moved, 1.0)

    def sampling(self, whitening: Whitening, rows: float) -> np.ndarray:
        """Return the covariance (p, p) of the position from the sampling of rows, or of units."""
        p, t, slope = len(self.eta), whitening.dimension, self.slope
        if self.products is None:
            return np.diag(self.square * t / p * whitening.kept / (rows * slope**2))
        values, vectors = np.linalg.eigh(self.products)
        # for a'(products)a the noise has a variance of at most 2 |a|^4 times its square
        values = np.maximum(values, 0.0) + math.sqrt(2) * self.products_deviation + self.excess
        return (vectors * values) @ vectors.T / (rows * slope) ** 2


def release_of(
    state: NewtonState,
    basis: IndicatorBasis,
    whitening: Whitening,
    wild: bool,
    problem: Problem,
    rows: float,
    counted: tuple[float, float],
    few: bool = False,
) -> Release:
    """Return coefficients, their covariance, and which of them weak directions decide.

    ``counted`` is the number of rows as released and the noise on it, ``rows`` that number or twice
    the noise; where they are too ``few`` for scales of the columns no interval is shown.
    """
    reference, p, t = problem.reference, len(state.eta), whitening.dimension
    assert reference is not None
    directions = basis.from_span @ whitening.map
    eta = state.eta / (1 + p / _PRIOR * state.variance)
    failed = wild or float(eta @ eta) > _MOST_EXPLAINED
    eta = eta * (not failed)
    sampling = state.sampling(whitening, rows)
    # what the prior has moved a direction by counts as an error of unknown sign
    noise = state.variance + (state.eta - eta) ** 2
    weak = (whitening.eigenvalues < 0) | (state.variance > _WEAK * prior_variance(p)) | failed
    back = reference.y_scale * directions
    variance = noise + np.diag(sampling)
    cov = (back * variance) @ back.T
    if state.products is not None:
        cov += back @ (sampling - np.diag(np.diag(sampling))) @ back.T
    hidden = (back * (variance * weak)) @ back.T
    slopes = np.arange(len(cov)) != problem.intercept
    seen = np.diag(hidden) < _HIDDEN * np.diag(cov)
    identified = not slopes.any() or bool(seen[slopes].any())
    if not identified and whitening.kept @ (state.eta**2 - state.variance) <= 0:
        eta = np.zeros(p)  # the mean predicts better than coefficients that are noise
    if few:
        hidden, seen = cov, np.zeros_like(seen)
    params = reference.y_scale * (directions @ eta) + reference.y_center * _constant(basis)
    tilt = _concentration(directions, basis, problem)
    bias = tilt[:, None] * ((back * state.bias) @ back.T) * tilt
    cov, hidden = cov + bias, hidden + bias * np.outer(~seen, ~seen)
    privacy = (back * noise) @ back.T + bias
    far = _FAR * reference.y_scale
    ends = reference.y_center - far, reference.y_center + far
    statistics = {
        "hidden_cov": hidden.tolist(),
        "privacy_cov": privacy.tolist(),
        "rows": float(rows),
        "sigma2": float(reference.y_scale**2 * state.square * t / p),
        "down_weighted": float(1 - state.slope),
        "response_range": list(ends),
        "fit_rows": counted[0],
        "fit_rows_error": counted[1],
        **({} if state.products is None else {"score_products": state.products_deviation}),
        **_goodness(state, basis, whitening, directions, rows, failed, reference.y_scale),
    }
    moved = np.sqrt(np.diag(privacy)) * _column_scales(basis, problem) / reference.y_scale
    precise = moved[slopes].max(initial=0.0) <= _PRECISE
    status = "ok" if seen[slopes].all() and precise else "imprecise"
    if slopes.any() and not seen[slopes].any():
        status = "constant" if failed else "not_identified"
    few_reason = _FEW if problem.by_unit else _FEW + _OF_A_LINE
    hidden_reason = _FAILED if failed else few_reason if few else _HIDDEN_REASON
    if reference.extremes.y_unseen:
        hidden_reason = _UNSEEN
    reasons = {} if seen.all() else {"bse": hidden_reason, "conf_int": hidden_reason}
    if np.isnan(problem.x_new).any():
        reasons["predictions"] = _NO_VALUE
    return Release(
        params=params,
        predictions=np.clip(problem.x_new @ params, *ends),
        cov=cov,
        status=status,
        reasons=reasons,
        statistics=statistics,
        cov_type="cluster" if basis.by_unit else "nonrobust",
        note=_IMPRECISE.format(_PRECISE) if status == "imprecise" and not precise else "",
    )


def prior_variance(directions: int) -> float:
    """Return the prior variance of the position in each of so many directions.

    Its squares add up to R-squared, so it is 2 over their number, which a signal in few of them may
    exceed: at least 0.15, of which two standard deviations hold 60% of the response's variance.
    """
    return min(max(_PRIOR / directions, _LEAST_PRIOR), 1.0)


def _concentration(directions: np.ndarray, basis: IndicatorBasis, problem: Problem) -> np.ndarray:
    """Return how much more of what is cut off the scores may point along each coefficient, (S,).

    ``directions`` (S, p) are coefficients in units of the response. Where few rows have much of a
    column, they are the ones whose scores are long, and what is cut points along it: up to all of
    it, p times the square of an even share. Where values are spread evenly it is less than that.
    Of an indicator with a share q of the rows the kurtosis is about 1 / (q (1 - q)), as its
    variance, which X'X shows.
    """
    assert problem.layout is not None and problem.reference is not None
    p = directions.shape[1]
    kurtosis = (directions**2).sum(axis=1) - 2.0
    kurtosis[problem.layout.numeric] = problem.reference.extremes.kurtosis
    most = max(min(p, _MOST_CONCENTRATED), _CONCENTRATION[-1])
    square = np.interp(kurtosis, _KURTOSIS, [*_CONCENTRATION, most])
    if problem.intercept is not None:
        square[problem.intercept] = most
    return np.sqrt(square)


def _goodness(
    state: NewtonState, basis: IndicatorBasis, whitening: Whitening, directions: np.ndarray,
    rows: float, failed: bool, y_scale: float,
) -> dict[str, float]:  # fmt: skip
    """Return R-squared and the residual variance, with their standard errors."""
    constant = None
    if basis.has_constant:
        constant = np.linalg.lstsq(directions, _constant(basis), rcond=None)[0]
    explained = Explained.of(
        state.eta, state.variance, whitening.kept, constant, whitening.error, rows
    )
    squares = Squares() if failed or basis.by_unit else state.squares
    return goodness(explained, squares, y_scale, rows, len(state.eta))


def _constant(basis: IndicatorBasis) -> np.ndarray:
    """Return the constant 1's coefficients (S,), zeros where no combination of columns gives it."""
    ones = np.zeros(basis.size)
    if basis.has_constant:
        ones[: basis.sizes[0] if basis.sizes else 1] = 1.0
    return basis.from_span @ ones


def _column_scales(basis: IndicatorBasis, problem: Problem) -> np.ndarray:
    """Return standard deviations (S,) of the columns as released, one for all indicators."""
    assert problem.layout is not None
    scales = np.full(len(problem.low), _INDICATOR_SD)
    scales[problem.layout.numeric] = np.linalg.norm(basis.root, axis=1)
    return scales
