"""Turn the position of noisy Newton steps of a Poisson regression into coefficients."""

import math
from dataclasses import dataclass

import numpy as np

from dpstats.estimators.contract import Problem, Release
from dpstats.estimators.least_squares.dense.robust_covariance import COV_TYPES
from dpstats.estimators.newton import logistic_release
from dpstats.estimators.newton.bias import Bias
from dpstats.estimators.newton.indicator_basis import IndicatorBasis
from dpstats.estimators.newton.logistic_release import (
    _HIDDEN, _SEEN, _OPEN, _LONG, _UNSETTLED, TOO_FEW,
    _HIDDEN_REASON,
    _IMPRECISE,
    _NO_VALUE,
    _PRECISE,
)
from dpstats.estimators.newton.release import column_scales, concentration, constant_of
from dpstats.evidence import PoissonEvidence


@dataclass(frozen=True)
class Fitted(logistic_release.Fitted):
    bias: Bias

    @property
    def failure(self) -> str:
        share, error = self.mean
        if self.few:
            return TOO_FEW
        if share < _SEEN * error:
            return "none"
        left, all_of_it = np.trace(self.position.left), np.trace(self.noise + self.sampling)
        is_open = left > _OPEN * all_of_it or self.is_far
        return _UNSETTLED if self.position.beyond > _LONG or is_open else ""

def release_of(fitted: Fitted, basis: IndicatorBasis, problem: Problem) -> Release:
    back, eta = basis.from_span @ fitted.map, fitted.position.eta
    noise, total = fitted.noise, fitted.total
    params = back @ eta + fitted.center * constant_of(basis)
    cov, weak, failure = back @ total @ back.T, fitted.weak, fitted.failure
    hidden = cov if failure else back @ weak @ total @ weak @ back.T
    seen = np.diag(hidden) < _HIDDEN * np.diag(cov)
    tilt = concentration(back, basis, problem)
    bias = fitted.bias.covariance(back @ fitted.hessian.vectors, tilt, constant_of(basis))
    cov, hidden = cov + bias, hidden + bias * np.outer(~seen, ~seen)
    privacy = back @ noise @ back.T + bias
    moved = np.sqrt(np.diag(privacy)) * column_scales(basis, problem)
    slopes = np.arange(len(cov)) != problem.intercept
    slopes = slopes if slopes.any() else ~slopes
    precise = moved[slopes].max() <= _PRECISE
    status = "ok" if seen[slopes].all() and precise else "imprecise"
    status = status if seen[slopes].any() else "not_identified"
    reason = failure or _HIDDEN_REASON
    reasons = {} if seen.all() else {"bse": reason, "conf_int": reason}
    if np.isnan(problem.x_new).any():
        reasons["predictions"] = _NO_VALUE
    evidence = PoissonEvidence(
        hidden_cov=hidden, privacy_cov=privacy, rows=fitted.rows, down_weighted=fitted.cut,
        response_range=(0.0, math.inf), fit_rows=fitted.counted.number,
        fit_rows_error=fitted.counted.noise,
        mean_slope=fitted.mean[0], mean_slope_error=fitted.mean[1], slope_gradient=np.zeros(len(params)),
    )  # fmt: skip
    return Release(
        params=params,
        predictions=evidence.means(problem.x_new @ params),
        cov=cov,
        status=status,
        reasons=reasons,
        evidence=evidence,
        cov_type=COV_TYPES[1 + problem.by_unit],
        note=_IMPRECISE.format(_PRECISE) if status == "imprecise" and not precise else "",
    )
