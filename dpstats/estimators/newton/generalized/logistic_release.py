"""Turn the position of noisy Newton steps into coefficients: of a logistic regression, and more."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpstats.estimators.contract import Problem, Release
from dpstats.estimators.least_squares.dense.robust_covariance import COV_TYPES
from dpstats.estimators.newton.generalized.level_outcomes import LevelRows
from dpstats.estimators.newton.generalized.logistic_position import Hessian, Position
from dpstats.estimators.newton.generalized.pseudo_rsquared import Released, mcfadden
from dpstats.estimators.newton.row_sums import IndicatorBasis
from dpstats.estimators.newton.steps import Clusters, Counted
from dpstats.estimators.newton.steps.coefficient_errors import REASON, CoefficientErrors
from dpstats.estimators.newton.steps.hidden_rows import note_on_hidden_rows
from dpstats.estimators.newton.steps.release import FEW_CLUSTERS, column_scales
from dpstats.estimators.newton.steps.sizes import TOO_FEW
from dpstats.evidence import LinkEvidence, LogisticEvidence

# A direction is weak where an eigenvalue of the Hessian is below so many deviations of its noise,
# or the error of the position above this part of its prior variance.
_CLEAR, _WEAK = 4.0, 0.25
# Steps have not settled where the last one was so long, squared, beyond its noise, or what it left
# is this part of the variance: outcomes may be separated, so that there is no optimum.
_LONG, _OPEN = 0.1, 0.7
# Nor have they at a position longer than this, in log odds, unless what the last step moved and its
# noise are this part of it: five steps fall short of outcomes that are nearly separated, each of
# which is one in log odds farther, and show no more than a little of the way that is left.
_FAR, _SETTLED = 1.5, 0.1
# Directions of length 1 span one less where a singular value is below this.
_SAME = 1e-6
# All are hidden where the noise has more than this part of so many directions or more, and its
# norm, of about 2 root p deviations, is above this part of the mean eigenvalue: then steps come
# hardly closer. (Of 36 coefficients on 17,379 rows .69 were held as counts at epsilon 1, and .85
# where the response has little variance: tests/suites/test_many_levels.py. Of 13 on 1,000 rows .98
# are held anyway: benchmarks/logit_grid.py.)
_SWAMPED, _MANY, _NORM = 0.1, 20, 0.6
# Ones and zeros are to stand so many deviations of noise clear.
SEEN = 4.0
# The optimum with weights differs from that without, where the log odds are not as linear as the
# model has them: in all directions together by the share of leverage that weights take, times the
# length of the position, times the root of this.
_CURVED = 2.0
# Of rare outcomes the curvature along a direction falls as their odds rise, so at the optimum it
# may be smaller than at the position: a standard error is longer by e to the power of so many times
# what noise moves the position by there, in log odds of an ordinary row, and of this at most. Set
# by simulation (benchmarks/logit.py).
_BENT, _MOST_BENT = 2.5, 1.0
# A fit is imprecise where the noise moves some coefficient by more than this, in log odds for a
# standard deviation of its column; an indicator counts as a column of 0.4.
_PRECISE = 0.3
_IMPRECISE = (
    "imprecise: the noise moves some coefficient by more than {:.2g} in {} for one standard "
    "deviation of its column"
)
_HIDDEN_REASON = (
    "the noise could account for the directions that decide some coefficients, as where outcomes "
    "are rare or one level has a single outcome, so their intervals are unbounded; raise epsilon "
    "or n, or merge rare levels"
)
_UNSETTLED = (
    "the steps did not settle, as where the regressors separate ones from zeros, so intervals are "
    "unbounded; raise epsilon or n, or leave out a regressor that decides the outcome"
)
_RARE = (
    "the noise could account for all the ones, or all the zeros, so intervals are unbounded; raise "
    "epsilon or n, and see that the response is coded 0 and 1"
)
_NO_VALUE = "a term has no value at a quarter of the estimated range; give x_new= where it has one"


@dataclass(frozen=True)
class FittedLogit:
    """Hold what was released of a fit: its position, and what its errors follow from.

    ``mean`` is the share of ones with its noise, ``kept`` the part of squared leverage that weights
    leave, ``cut`` the share of the rows with a weight below 1, ``products`` (p, p) what the scores'
    covariance is estimated as, or None, ``clusters`` how many it allows for, or None, and
    ``slopes`` the sums of mu' and of its derivative, (1 + p,), with ``slopes_noise``. ``changed``
    (k, p) are vectors of unknown sign that weights may change the position by, ``levels`` has the
    mean rows of levels, and ``hidden`` is the share of the rows that noise could hide far out.
    ``entropy`` is the sum of entropies of outcomes with its noise, None where it tells no
    likelihood.
    """

    position: Position
    hessian: Hessian
    map: np.ndarray
    center: float
    counted: Counted
    rows: float
    mean: tuple[float, float]
    kept: float
    cut: float
    products: np.ndarray | None
    clusters: Clusters | None
    slopes: np.ndarray
    slopes_noise: np.ndarray
    few: bool
    changed: np.ndarray
    levels: LevelRows
    hidden: float
    entropy: tuple[float, float] | None

    # What the linear predictor is, and what tells more of the release.
    predictor: ClassVar[str] = "log odds"
    evidence: ClassVar[type[LinkEvidence]] = LogisticEvidence
    unsettled: ClassVar[str] = _UNSETTLED

    @property
    def noise(self) -> np.ndarray:
        """Return the covariance (p, p) of the position's error beside the sampling of rows."""
        eta, p = self.position.eta, len(self.position.eta)
        curved = _CURVED * ((1 - self.kept) * float(np.linalg.norm(eta))) ** 2 / p
        return self.position.cov + curved * np.eye(p)

    @property
    def sampling(self) -> np.ndarray:
        """Return the covariance (p, p) from the sampling of rows, or of units."""
        if self.products is None:
            return self.hessian.sampling
        return self.hessian.inverse @ self.products @ self.hessian.inverse

    @property
    def total(self) -> np.ndarray:
        """Return the covariance (p, p) of the position's error, from noise and from sampling.

        It is no smaller than their sum, whatever combination of coefficients is looked at.
        """
        values, vectors = np.linalg.eigh(self.noise + self.sampling)
        moved = np.sqrt(((self.noise @ vectors) * vectors).sum(axis=0))
        bent = np.exp(np.minimum(_BENT * self.position.rare * moved, _MOST_BENT))
        return (vectors * (bent**2 * values)) @ vectors.T

    @property
    def failure(self) -> str:
        """Say why no coefficient has an interval; empty where some may have."""
        if self.few:
            return TOO_FEW
        if self.unseen:
            return self.unseen
        if self.clusters is not None and self.clusters.are_few:
            return FEW_CLUSTERS
        if self.is_swamped:
            return _HIDDEN_REASON
        left, all_of_it = np.trace(self.position.left), np.trace(self.noise + self.sampling)
        is_open = left > _OPEN * all_of_it or self.is_far
        return self.unsettled if self.position.beyond > _LONG or is_open else ""

    @property
    def doubt(self) -> str:
        """Say why some coefficients have no interval where others have."""
        return _HIDDEN_REASON

    @property
    def hidden_rows(self) -> float:
        """Return the share of the rows that the noise could hide far out."""
        return self.hidden

    @property
    def unseen(self) -> str:
        """Say that the noise could account for all ones or zeros; empty where it could not."""
        share, error = self.mean
        return _RARE if min(share, 1 - share) < SEEN * error else ""

    @property
    def is_swamped(self) -> bool:
        """Tell whether noise has so many directions of the Hessian that steps stop halfway."""
        hessian, p = self.hessian, len(self.hessian.values)
        hidden = int((hessian.values < hessian.raised).sum())
        norm = 2 * math.sqrt(p) * hessian.deviation
        is_noisy = norm > _NORM * float(hessian.values.mean())
        return p >= _MANY and hidden > _SWAMPED * p and is_noisy

    @property
    def is_far(self) -> bool:
        """Tell whether the position is so long that the optimum may lie much farther."""
        length, last = float(np.linalg.norm(self.position.eta)), self.position
        return length > _FAR and math.sqrt(last.moved + last.noise) > _SETTLED * length

    @property
    def weak(self) -> np.ndarray:
        """Return the projection (p, p) on directions which the noise could account for."""
        vectors = self.hessian.vectors
        unsure = ((self.noise @ vectors) * vectors).sum(axis=0)
        weak = self.hessian.values < _CLEAR * self.hessian.deviation
        weak |= unsure > _WEAK * self.position.prior
        of_levels = self.levels.hidden(
            self.position.eta, self.center, self.noise, self.hessian.inverse, self.rows
        )
        return projection(vectors.T[weak], of_levels)

    def clipped(self, basis: IndicatorBasis, problem: Problem) -> np.ndarray:
        """Return the covariance (S, S) of what weights, or clipped scores, bias coefficients by."""
        vectors = basis.from_span @ self.map @ self.changed.T
        return vectors @ vectors.T

    def ends(self, problem: Problem) -> tuple[float, float]:
        """Return between which ends means lie."""
        return 0.0, 1.0


def release_of(fitted: FittedLogit, basis: IndicatorBasis, problem: Problem) -> Release:
    """Return coefficients, their covariance, and which of them weak directions dominate.

    Guarantee. Post-processing of what was released.
    """
    back, eta = basis.from_span @ fitted.map, fitted.position.eta
    noise, total = fitted.noise, fitted.total
    params = back @ eta + fitted.center * basis.constant
    cov, weak, failure = back @ total @ back.T, fitted.weak, fitted.failure
    hidden = cov if failure else back @ weak @ total @ weak @ back.T
    clipped, ends = fitted.clipped(basis, problem), fitted.ends(problem)
    errors = CoefficientErrors.of(cov, hidden, back @ noise @ back.T, clipped)
    moved, seen = np.sqrt(np.diag(errors.privacy)) * column_scales(problem), errors.seen
    slopes = np.arange(len(cov)) != problem.intercept
    slopes = slopes if slopes.any() else ~slopes
    precise = moved[slopes].max() <= _PRECISE
    status = "ok" if seen[slopes].all() and precise else "imprecise"
    status = status if seen[slopes].any() else "not_identified"
    reason = failure or (REASON if errors.lost.any() else fitted.doubt)
    reasons = {} if seen.all() else {"bse": reason, "conf_int": reason}
    if np.isnan(problem.x_new).any():
        reasons["predictions"] = _NO_VALUE
    evidence = fitted.evidence(
        hidden_cov=errors.hidden, privacy_cov=errors.privacy, rows=fitted.rows,
        down_weighted=fitted.cut,
        hidden_rows=fitted.hidden_rows if seen[slopes].any() else 0.0,
        response_range=ends, fit_rows=fitted.counted.number,
        fit_rows_error=fitted.counted.noise, **_slopes(fitted, back), **_clusters(fitted),
        **_pseudo_rsquared(fitted, back, basis.constant),
    )  # fmt: skip
    imprecise = _IMPRECISE.format(_PRECISE, fitted.predictor)
    notes = [imprecise] if status == "imprecise" and not precise else []
    clustered = problem.by_unit or fitted.clusters is not None
    notes.append(note_on_hidden_rows(evidence))
    return Release(
        params=params,
        predictions=np.clip(evidence.means(problem.x_new @ params), *ends),
        cov=errors.cov,
        status=status,
        reasons=reasons,
        evidence=evidence,
        cov_type=COV_TYPES[2 if clustered else int(fitted.products is not None)],
        note="; ".join(filter(None, notes)),
    )


def projection(*directions: np.ndarray) -> np.ndarray:
    """Return the projection (p, p) on what directions (k, p) of length 1 span together."""
    _, sizes, found = np.linalg.svd(np.vstack(directions), full_matrices=False)
    found = found[sizes > _SAME]
    return found.T @ found


def _clusters(fitted: FittedLogit) -> dict:
    """Return how many clusters standard errors allow for, and the noise on it."""
    if fitted.clusters is None:
        return {}
    return {"clusters": fitted.clusters.number, "clusters_error": fitted.clusters.error}


def _pseudo_rsquared(fitted: FittedLogit, back: np.ndarray, constant: np.ndarray) -> dict:
    """Return McFadden's with its standard error, where no coefficient's interval is in doubt."""
    if fitted.entropy is None or fitted.failure:
        return {}
    start = np.linalg.lstsq(back, fitted.center * constant, rcond=None)[0]
    vectors = fitted.hessian.vectors
    found = mcfadden(
        Released(*fitted.entropy), Released(*fitted.mean),
        Released(fitted.rows, fitted.counted.noise), fitted.position.eta + start,
        (vectors * fitted.hessian.raised) @ vectors.T, fitted.noise, 1 - fitted.kept,
    )  # fmt: skip
    return {"fit_prsquared": found.value, "fit_prsquared_error": found.noise}


def _slopes(fitted: FittedLogit, back: np.ndarray) -> dict:
    """Return the mean of mu', the noise on it, and its derivative by the coefficients (S,)."""
    mean, noise = fitted.slopes / fitted.rows, fitted.slopes_noise / fitted.rows
    gradient = np.linalg.lstsq(back.T, mean[1:], rcond=None)[0]
    relative = fitted.counted.noise / fitted.rows
    return {
        "mean_slope": max(float(mean[0]), 0.0),
        "mean_slope_error": math.hypot(noise[0], relative * mean[0]),
        "slope_gradient": gradient,
    }
