"""Hold what was released of a Poisson regression, and what its errors follow from."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpstats.estimators.contract import Problem
from dpstats.estimators.newton.generalized import logistic_release
from dpstats.estimators.newton.generalized.far_scores import FarScores
from dpstats.estimators.newton.generalized.logistic_release import SEEN
from dpstats.estimators.newton.row_sums import IndicatorBasis
from dpstats.estimators.newton.steps import Bias
from dpstats.estimators.newton.steps.release import concentration
from dpstats.evidence import LinkEvidence, PoissonEvidence

_NONE_SEEN = (
    "the noise could account for all that is not zero, so intervals are unbounded; raise epsilon "
    "or n, and see that the response is a count or an amount"
)
_UNSETTLED = (
    "the steps did not settle, as where nearly all responses of some level are zero, so intervals "
    "are unbounded; raise epsilon or n, or merge rare levels"
)

_SKEWED = (
    "the noise could hide the rows far out in a skewed regressor that decide its coefficient, so "
    "its interval is unbounded; raise epsilon or n, declare close bounds= or take its logarithm"
)


@dataclass(frozen=True)
class FittedCounts(logistic_release.FittedLogit):
    """Hold the same as of a logistic regression, ``mean`` being that of the response.

    ``bias`` is what clipped scores bias the position by, along eigenvectors of the Hessian,
    ``far`` are the rows whose scores are far out, and ``skewed`` (k, p) the directions of skewed
    regressors.
    """

    bias: Bias
    far: FarScores
    skewed: np.ndarray

    predictor: ClassVar[str] = "the logarithm of the mean"
    evidence: ClassVar[type[LinkEvidence]] = PoissonEvidence
    unsettled: ClassVar[str] = _UNSETTLED

    @property
    def failure(self) -> str:
        """Say why no coefficient has an interval; empty where some may have."""
        return super().failure or self.far.failure

    @property
    def weak(self) -> np.ndarray:
        """Return the projection (p, p) on directions which noise or far rows may account for."""
        weak = super().weak
        return logistic_release.projection(weak, self.skewed) if self._doubts_skewed else weak

    @property
    def doubt(self) -> str:
        """Say why some coefficients have no interval where others have."""
        return _SKEWED if self._doubts_skewed else super().doubt

    @property
    def _doubts_skewed(self) -> bool:
        return self.far.unclear and len(self.skewed) > 0

    @property
    def hidden_rows(self) -> float:
        """Return the share of the rows that the noise could hide far out."""
        return self.far.hidden

    @property
    def unseen(self) -> str:
        """Say that the noise could account for the mean; empty where it could not."""
        mean, error = self.mean
        return _NONE_SEEN if mean < SEEN * error else ""

    def clipped(self, basis: IndicatorBasis, problem: Problem) -> np.ndarray:
        """Return the covariance (S, S) of what clipped scores bias the coefficients by."""
        back, constant = basis.from_span @ self.map, basis.constant
        tilt = concentration(back, problem)
        return self.bias.covariance(back @ self.hessian.vectors, tilt, constant)

    def ends(self, problem: Problem) -> tuple[float, float]:
        """Return 0 and the declared bound of the response."""
        return 0.0, problem.y_high
